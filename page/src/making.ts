/** How far the making of a graph has come, what answers meanwhile, and how long that will be so. */

import { byId, el } from "./dom";
import type { ServedGraph } from "./served";
import { say } from "./texts";

const SURE_MINUTES = 100; // seconds from which on a time is told in minutes

/** Whether there is something to wait for. */
export const isUnderWay = (graph: ServedGraph): boolean =>
  !graph.is_failed && (!graph.is_ready || graph.vectors_seconds_left !== null);

/** Whether a question gets an answer. */
export const answers = (graph: ServedGraph): boolean => graph.is_ready || graph.is_partial;

/** Whether words find all that there is. */
export const isWhole = (graph: ServedGraph): boolean =>
  graph.is_ready || (graph.files !== null && graph.files === graph.of_files);

/** Show how far a graph is; nothing of one that is whole. */
export function showMaking(graph: ServedGraph): void {
  const box = byId("making");
  if (graph.is_ready) box.replaceChildren(...vectors(graph));
  else box.replaceChildren(...(graph.is_partial ? partial(graph) : notYet(graph)));
  box.classList.toggle("notice", !graph.is_ready);
  box.hidden = !box.hasChildNodes();
}

/** Say that all is there now, to whoever asked before it was. */
export function showWhole(again: () => void): void {
  const box = byId("making");
  box.replaceChildren(
    el("p", {}, say("whole"), " ", el("button", { class: "link", type: "button", onclick: again }, say("again"))),
  );
  box.classList.add("notice");
  box.hidden = false;
}

function vectors(graph: ServedGraph): HTMLElement[] {
  const seconds = graph.vectors_seconds_left;
  if (seconds === null) return [];
  return [el("p", { class: "dim" }, say(seconds > 0 ? "vectorsIn" : "vectorsSoon", { time: time(seconds) }))];
}

function notYet(graph: ServedGraph): HTMLElement[] {
  return [
    el("p", {}, el("strong", {}, say(graph.is_failed ? "notMade" : "making"))),
    el("p", {}, [graph.stage, ...howFar(graph)].filter(Boolean).join(" · ")),
    ...bar(graph),
  ];
}

function partial(graph: ServedGraph): HTMLElement[] {
  const { files, of_files: all } = graph;
  if (files === null)
    return [
      el("p", {}, el("strong", {}, say("readAgain"))),
      el("p", {}, say("asBefore")),
      el("p", { class: "dim" }, [graph.stage, ...howFar(graph)].filter(Boolean).join(" · ")),
      ...bar(graph),
    ];
  if (files === all)
    return [
      el("p", {}, el("strong", {}, say("allRead", { n: files }))),
      el("p", {}, say("byWords")),
      el("p", { class: "dim" }, [graph.stage, ...howFar(graph)].filter(Boolean).join(" · ")),
      ...bar(graph),
    ];
  const done = graph.done ?? files,
    read = all === null ? say("readFiles", { n: done }) : say("readOf", { n: done, all });
  return [
    el("p", {}, el("strong", {}, [read, left(graph)].filter(Boolean).join(", "))),
    el("p", {}, done > files ? say("fromFirst", { n: files }) : say("fromThese")),
    ...bar(graph),
  ];
}

function howFar(graph: ServedGraph): string[] {
  const { done, of } = graph;
  return [done !== null && of !== null ? say("doneOf", { n: done, all: of }) : "", left(graph)];
}

function left(graph: ServedGraph): string {
  return graph.seconds_left === null ? "" : say("timeLeft", { time: time(graph.seconds_left) });
}

function bar({ done, of }: ServedGraph): HTMLElement[] {
  return done !== null && of ? [el("progress", { max: of, value: done, "aria-label": say("making") })] : [];
}

function time(seconds: number): string {
  return seconds >= SURE_MINUTES
    ? say("minutes", { n: Math.round(seconds / 60) })
    : say("seconds", { n: Math.max(1, seconds) });
}

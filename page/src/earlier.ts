/** The conversation so far: each earlier question with what it gave. */

import { byId, el } from "./dom";
import { forget, turns, type Turn } from "./history";
import { say } from "./texts";

const NAMED = 3; // hits that stand for an answer where there is none

/** Show the turns that a page can show again. */
export function showEarlier(
  isShown: (turn: Turn) => boolean,
  reopen: (turn: Turn) => void,
  forgotten: () => void,
): void {
  const box = byId<HTMLDetailsElement>("earlier"),
    all = turns().filter(isShown);
  const clear = () => {
    forget();
    forgotten();
    box.hidden = true;
  };
  box.hidden = !all.length;
  box.replaceChildren(
    el("summary", {}, say("earlier", { n: all.length })),
    el("ol", {}, ...all.map((turn) => el("li", {}, line(turn, reopen)))),
    el("button", { class: "quiet", type: "button", onclick: clear }, say("forget")),
  );
}

function line(turn: Turn, reopen: (turn: Turn) => void): HTMLElement {
  const { asked, result, hits } = turn;
  const names = hits.slice(0, NAMED).map((hit) => hit.name);
  return el(
    "button",
    { class: "turn", onclick: () => reopen(turn) },
    el("strong", {}, asked.question),
    el("span", { class: "dim" }, result.answer ?? names.join(", ")),
  );
}

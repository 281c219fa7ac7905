/** The page before a question: what the graph is about, questions that have an answer, and the schema as a picture. */

import { get } from "./api";
import { byId, el } from "./dom";
import { rankColors } from "./palette";
import type { NotRead, Overview, SchemaView } from "./records";
import { showSchema } from "./schema";
import type { ServedGraph } from "./served";
import { number, say } from "./texts";

type Info = {
  not_read: NotRead[];
  dropped: { file: string; reason: string; meaning: string; count: number }[];
  mapping: { file: string; questions: string[] }[];
  stale: boolean;
};
const OF_DOCUMENTS = ["document", "chunk", "table"]; // the types that `orienteer build` gives

/** Show what a graph is about while `isWanted`; the labels of its types are kept in it. */
export async function welcome(
  graph: ServedGraph,
  ask: (question: string, reading?: string) => void,
  isWanted: () => boolean,
): Promise<void> {
  const query = { graph: graph.name },
    box = byId("start"),
    tried = el("div", {});
  const [about, schema, info] = await Promise.all([
    get<Overview>("api/overview", { ...query, examples: "false" }),
    get<SchemaView>("api/schema", query),
    get<Info>("api/info", query),
  ]);
  graph.labels = { ...schema.labels, ...graph.labels };
  if (!isWanted()) return;
  box.replaceChildren(...[el("p", { class: "about" }, about.text), tried, aboutSources(info)].filter((part) => part !== null));
  drawSchema(schema, about, ask);
  const { examples } = await get<Overview>("api/overview", query);
  tried.replaceChildren(...(examples.length ? [tries(examples.map((example) => example.question), ask)] : []));
}

/** Draw a schema in place of evidence; nothing of documents without names, whose types say nothing of them. */
export function drawSchema(schema: SchemaView, about: Overview, ask: (question: string, reading: string) => void): void {
  const types = Object.keys(schema.node_types);
  rankColors(schema.node_types);
  if (types.every((type) => OF_DOCUMENTS.includes(type))) return;
  showSchema(byId("schema"), schema, about, types.includes("document") ? null : ask);
}

export function hideSchema(): void {
  byId("schema").replaceChildren();
  byId("schema").hidden = true;
}

/** Return questions as buttons. */
export function tries(questions: readonly string[], ask: (question: string) => void): HTMLElement {
  const chip = (question: string) => el("button", { class: "chip", onclick: () => ask(question) }, question);
  const list = el("ul", { class: "tries" }, ...questions.map((question) => el("li", {}, chip(question))));
  return el("section", {}, el("h2", {}, say("tryThese")), list);
}

/** Return what of the sources was not read, which rows were dropped, and what their values left open: a line to open. */
function aboutSources(info: Info): HTMLElement | null {
  const read = info.not_read.map(({ reason, files, number: count }) => {
    const more = count > files.length ? ` ${say("more", { n: count - files.length })}` : "";
    return `${reason}: ${files.join(", ")}${more}`;
  });
  const lost = info.dropped.map(
    ({ file, reason, meaning, count }) => `${file}: ${number(count)} ${reason}${meaning ? `: ${meaning}` : ""}`,
  );
  const open = info.mapping.flatMap(({ file, questions = [] }) => questions.map((text) => `${file}: ${text}`));
  const counts = [
    info.not_read.length ? say("notRead", { n: sum(info.not_read.map((group) => group.number)) }) : "",
    info.dropped.length ? say("dropped", { n: sum(info.dropped.map((rows) => rows.count)) }) : "",
    open.length ? say("openQuestions", { n: open.length }) : "",
  ].filter(Boolean);
  const lines = [...read, ...lost, ...open].map((line) => el("li", {}, line));
  const parts = [
    info.stale ? el("p", {}, say("stale")) : null,
    lines.length ? el("details", {}, el("summary", {}, counts.join("; ")), el("ul", {}, ...lines)) : null,
  ].filter((part) => part !== null);
  return parts.length ? el("section", { class: "dim" }, ...parts) : null;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

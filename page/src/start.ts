/** The page before a question: what the graph holds, and questions made from its schema. */

import { get, post } from "./api";
import { el } from "./dom";
import { dot } from "./palette";
import type { ServedGraph } from "./served";
import type { Listing, NotRead, SchemaEdge, SchemaView } from "./records";
import { number, say } from "./texts";

const TYPES = 4,
  QUESTIONS = 3,
  PASSAGES = 200; // among which headings are looked for
type Info = {
  not_read: NotRead[];
  dropped: { file: string; reason: string; meaning: string; count: number }[];
  mapping: { file: string; questions: string[] }[];
  stale: boolean;
};
const PART_OF = "part_of",
  DOCUMENT = "document"; // names that `orienteer build` gives

/** Return what the graph holds: its largest types. */
export function holds(nodeTypes: Record<string, number>): HTMLElement {
  const types = Object.entries(nodeTypes).sort((a, b) => b[1] - a[1]);
  return el(
    "section",
    { class: "holds" },
    el("h2", {}, say("holds")),
    el(
      "ul",
      {},
      ...types.slice(0, TYPES).map(([type, count]) => el("li", {}, dot(type), ` ${number(count)} `, type)),
      types.length > TYPES ? el("li", { class: "dim" }, say("andMore", { n: types.length - TYPES })) : null,
    ),
  );
}

/** Return questions to try, and what of the sources was not read, dropped or left open; the labels of the graph's types are kept in it. */
export async function welcome(graph: ServedGraph, ask: (question: string) => void): Promise<HTMLElement[]> {
  const query = { graph: graph.name };
  const [schema, info] = await Promise.all([get<SchemaView>("api/schema", query), get<Info>("api/info", query)]);
  graph.labels = { ...schema.labels, ...graph.labels };
  const questions = await examples(graph.name, schema);
  const parts = [questions.length ? tries(questions, ask) : null, aboutSources(info)];
  return parts.filter((part) => part !== null);
}

function tries(questions: readonly string[], ask: (question: string) => void): HTMLElement {
  const chip = (question: string) => el("button", { class: "chip", onclick: () => ask(question) }, question);
  const list = el("ul", { class: "tries" }, ...questions.map((question) => el("li", {}, chip(question))));
  return el("section", {}, el("h2", {}, say("tryThese")), list);
}

/** Return what of the sources was not read, which rows were dropped, and what their values left open. */
function aboutSources(info: Info): HTMLElement | null {
  const read = info.not_read.map(({ reason, files, number: count }) => {
    const more = count > files.length ? ` ${say("more", { n: count - files.length })}` : "";
    return `${reason}: ${files.join(", ")}${more}`;
  });
  const lost = info.dropped.map(
    ({ file, reason, meaning, count }) => `${file}: ${number(count)} ${reason}${meaning ? `: ${meaning}` : ""}`,
  );
  const open = info.mapping.flatMap(({ file, questions = [] }) => questions.map((text) => `${file}: ${text}`));
  const parts = [
    info.stale ? el("p", {}, say("stale")) : null,
    folded("notRead", sum(info.not_read.map((group) => group.number)), read),
    folded("dropped", sum(info.dropped.map((rows) => rows.count)), lost),
    folded("openQuestions", open.length, open),
  ].filter((part) => part !== null);
  return parts.length ? el("section", { class: "dim" }, ...parts) : null;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** Return lines under a heading that counts them, closed; null for none. */
function folded(heading: "notRead" | "dropped" | "openQuestions", n: number, lines: string[]): HTMLElement | null {
  if (!n) return null;
  const list = el("ul", {}, ...lines.map((line) => el("li", {}, line)));
  return el("details", {}, el("summary", {}, say(heading, { n })), list);
}

/** Return questions that the graph can answer: edge types that join the most, asked about their best joined nodes. */
async function examples(graph: string, schema: SchemaView): Promise<string[]> {
  const passage = schema.edges.find((edge) => edge.type === PART_OF && edge.target === DOCUMENT)?.source;
  if (passage !== undefined) return aboutPassages(graph, passage);
  const edges = [...schema.edges].sort((a, b) => b.count - a.count),
    targets = new Set<string>(),
    chosen: SchemaEdge[] = [];
  for (const edge of edges)
    if (edge.source !== edge.target && !targets.has(edge.target) && chosen.length < QUESTIONS) {
      targets.add(edge.target);
      chosen.push(edge);
    }
  const made = await Promise.all(
    chosen.map(async (edge) => {
      const [hub] = (
        await post<Listing>("api/list", { graph, node_types: [edge.target], sort: "degree", descending: true, k: 1 })
      ).hits;
      return hub?.name ? asked(edge, hub.name, schema.labels) : null;
    }),
  );
  return made.filter((question) => question !== null);
}

/** Return questions about the headings of passages that are joined the best. */
async function aboutPassages(graph: string, type: string): Promise<string[]> {
  const passages = (
    await post<Listing>("api/list", { graph, node_types: [type], sort: "degree", descending: true, k: PASSAGES })
  ).hits;
  const headings = new Set(passages.map(({ name }) => name.split(" > ").at(-1) ?? "").filter(isHeading));
  const telling = [...headings].sort((a, b) => Number(hasSeveralWords(b)) - Number(hasSeveralWords(a)));
  return telling.slice(0, QUESTIONS).map((name) => say("saidAbout", { name }));
}

/** Whether a name may say what a passage is about: it is not that of a file. */
const isHeading = (name: string): boolean => name.length > 3 && name.length < 60 && !/\.\w{1,5}$/.test(name);

const hasSeveralWords = (name: string): boolean => /\S\s+\S/.test(name);

/** Return a question as a person would write it: `Which Compound treats asthma?`, `language designed by Niklaus Wirth`. */
function asked({ source, type }: SchemaEdge, name: string, labels: Record<string, string>): string {
  const words = `${labels[source] ?? source} ${(labels[type] ?? type).replaceAll("_", " ")} ${name}`;
  return /s$/.test(labels[type] ?? type) ? `Which ${words}?` : words;
}

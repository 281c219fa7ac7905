/** The page before a question: what the graph holds, and questions made from its schema. */

import { get, post } from "./api";
import { el } from "./dom";
import { dot } from "./palette";
import type { Listing, NotRead, SchemaEdge, SchemaView } from "./records";
import { number, say } from "./texts";

const TYPES = 4, QUESTIONS = 3;
const PART_OF = "part_of", DOCUMENT = "document"; // names that `orienteer build` gives

/** Return what the graph holds: its largest types. */
export function holds(nodeTypes: Record<string, number>): HTMLElement {
  const types = Object.entries(nodeTypes).sort((a, b) => b[1] - a[1]);
  return el("section", { class: "holds" }, el("h2", {}, say("holds")), el("ul", {}, ...types.slice(0, TYPES).map(([type, count]) => el("li", {}, dot(type), ` ${number(count)} `, type)),
    types.length > TYPES ? el("li", { class: "dim" }, say("andMore", { n: types.length - TYPES })) : null));
}

/** Return what of the sources was not read, and why. */
export function notRead(groups: readonly NotRead[], isStale: boolean): HTMLElement | null {
  const count = groups.reduce((sum, group) => sum + group.number, 0);
  if (!count && !isStale) return null;
  return el("section", { class: "dim" }, isStale ? el("p", {}, say("stale")) : null,
    count ? el("details", {}, el("summary", {}, say("notRead", { n: count })), el("ul", {}, ...groups.map((group) => el("li", {}, `${group.reason}: ${group.files.join(", ")}`, group.number > group.files.length ? ` ${say("more", { n: group.number - group.files.length })}` : null)))) : null);
}

/** Return questions that the graph can answer: edge types that join the most, asked about their best joined nodes. */
export async function examples(graph: string, schema: SchemaView): Promise<string[]> {
  const passage = schema.edges.find((edge) => edge.type === PART_OF && edge.target === DOCUMENT)?.source;
  if (passage !== undefined) return aboutPassages(graph, passage);
  const edges = [...schema.edges].sort((a, b) => b.count - a.count), targets = new Set<string>(), chosen: SchemaEdge[] = [];
  for (const edge of edges) if (edge.source !== edge.target && !targets.has(edge.target) && chosen.length < QUESTIONS) { targets.add(edge.target); chosen.push(edge); }
  const made = await Promise.all(chosen.map(async (edge) => {
    const [hub] = (await post<Listing>("api/list", { graph, node_types: [edge.target], sort: "degree", descending: true, k: 1 })).hits;
    return hub?.name ? asked(edge, hub.name, schema.labels) : null;
  }));
  return made.filter((question) => question !== null);
}

/** Return questions about the headings of passages that are joined the best. */
async function aboutPassages(graph: string, type: string): Promise<string[]> {
  const passages = (await post<Listing>("api/list", { graph, node_types: [type], sort: "degree", descending: true, k: 20 })).hits;
  const headings = passages.map(({ name }) => name.split(" > ").at(-1) ?? "").filter((heading) => heading.length > 3);
  return [...new Set(headings)].slice(0, QUESTIONS).map((name) => say("saidAbout", { name }));
}

/** Return a question as a person would write it: `Which Compound treats asthma?`, `language designed by Niklaus Wirth`. */
function asked({ source, type }: SchemaEdge, name: string, labels: Record<string, string>): string {
  const words = `${labels[source] ?? source} ${(labels[type] ?? type).replaceAll("_", " ")} ${name}`;
  return /s$/.test(labels[type] ?? type) ? `Which ${words}?` : words;
}

/** Return the schema of a graph. Raises what `api.get` does. */
export const schemaOf = (graph: string): Promise<SchemaView> => get<SchemaView>("api/schema", { graph });

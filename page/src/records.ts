import type { Bin } from "./charts";

/** What the server sends: the records of `orienteer.records` and `orienteer.serve.views.records`, as far as the page reads them. */

export type Edge = { source: string; type: string; target: string };
export type Source = {
  file: string | null;
  line: number | null;
  page: number | null;
  heading: string | null;
  rows: string | null;
};
export type Hit = {
  id: string;
  type: string;
  name: string;
  score: number;
  votes: number | null;
  why: string;
  text: string;
  span: [number, number] | null;
  marks: [number, number][];
  source: Source | null;
  complete: boolean;
  edges: Edge[];
  ends?: { id: string; type: string; name: string; role?: string; layer?: number }[]; // a browser may have kept hits of before there were any
  meets?: string[];
  alike: string[];
};
export type Usage = {
  calls: number;
  prompt_tokens: number;
  completion_tokens: number;
  seconds: number;
  usd: number | null;
};
export type Reading = {
  by?: string; // results of before it had one are kept by browsers
  text: string | null;
  cypher: string | null;
  not_understood: string[];
  complete: boolean;
  total: number | null;
};
export type Refusal = { kind: string; words: string[]; near: string[]; text: string; questions?: string[]; lines?: string[] };
export type Citation = {
  begin: number;
  end: number;
  ids: string[];
  source: Source | null;
  text: "answer" | "long_answer";
  quote?: string; // results of before it had one are kept by browsers
};
/** What a question gives that asks for no ranking, as a table. */
export type ResultTable = {
  kind: "groups" | "overview" | "compare" | "cypher";
  columns: string[];
  rows: unknown[][];
  readings: string[];
};
export type Result = {
  question: string;
  method: string;
  hits?: Hit[];
  total?: number | null; // results of before they had it are kept by browsers, as with the next
  table?: ResultTable | null;
  answer: string | null;
  long_answer: string | null;
  answer_kind: string | null;
  citations: Citation[];
  reading: Reading | null;
  refusal: Refusal | null;
  usage: Usage;
  stopped_by: string;
  notes: string[];
};
/** What the server says of a wrong request: the word that is wrong, and names near it. */
export type Problem = { message: string; status?: number; value?: unknown; near?: string[] };
export type Call = { id: string; name: string; arguments: string };
export type Happening =
  | { kind: "begin" }
  | {
      kind: "step";
      agent: number | null;
      step: { reply: { message: { content: string | null; tool_calls: Call[] } }; error: string | null };
    }
  | { kind: "observation"; agent: number | null; call: Call; observation: { text: string; nodes: string[] } }
  | { kind: "hit"; hit: Hit }
  | { kind: "note"; text: string }
  | { kind: "answer_part"; text: string }
  | { kind: "answer"; answer: string }
  | { kind: "done"; result: Result }
  | { kind: "error"; error: Problem };

export type DrawnNode = { id: string; type: string; name: string; degree: number };
export type Subgraph = { nodes: DrawnNode[]; edges: Edge[]; truncated: boolean; unknown: string[] };
export type KindCount = { edge_type: string; direction: "out" | "in"; node_type: string; count: number };
export type NeighborsPage = { node: string; total: number; counts: KindCount[]; offset: number; hits: Hit[] };
export type NodePage = {
  id: string;
  type: string;
  name: string;
  aliases: string[];
  text: string;
  properties: Record<string, unknown>;
  degree: number;
  counts: KindCount[];
  source: Source | null;
  notes: string[];
};
export type FileRows = { rows: { file: string; line: number; cells: Record<string, string> }[]; notes: string[] };
export type Group = { value: unknown; count: number };
export type Facet = {
  name: string;
  kind: "text" | "number" | "date" | "edge";
  groups: (Group & { reading: string | null })[];
  distinct: number;
  missing: number;
  bins: Bin[];
};
export type Facets = { total: number; types: Group[]; properties: Facet[]; edges: Facet[] };
export type Answers = {
  total: number;
  columns: { name: string; kind: "own" | "property" | "edge" }[];
  rows: unknown[][];
  ids: string[];
};
export type Listing = { total: number; hits: { id: string; type: string; name: string }[] };
export type SchemaEdge = { source: string; type: string; target: string; count: number };
export type SchemaView = {
  node_types: Record<string, number>;
  edges: SchemaEdge[];
  labels: Record<string, string>;
  symmetric: string[];
};
export type Overview = {
  text: string;
  examples: { kind: string; question: string }[];
  nouns: Record<string, string>;
  asks: string[];
};
export type NotRead = { reason: string; number: number; files: string[] };

/** Nodes of a picture at the most: beyond, layouts and eyes give up. The server draws the same line. */
export const MOST_NODES = 2000;

/** Return a condition as the reading writes it in words: `not -treats-> "asthma"` -> `not treats → "asthma"`. */
export const said = (condition: string, edgeName: (type: string) => string): string =>
  condition
    .replace(/<-([\w.:>]+?)(\*?)- /g, (_, type: string, many: string) => `← ${edgeName(type)}${many} `)
    .replace(/(?<![\w<])-([\w.:>]+?)(\*?)-> /g, (_, type: string, many: string) => `${edgeName(type)}${many} → `);

/** Say where something stands in a person's files, as `Source.place` does. */
export function place(source: Source, words: { page: string; rows: string }): string {
  const file = source.file ?? "";
  if (source.line !== null) return `${file}:${source.line}`;
  const heading = source.rows !== null ? source.heading : null;
  return [
    file,
    source.page !== null ? `${words.page} ${source.page}` : null,
    heading,
    source.rows !== null ? `${words.rows} ${source.rows}` : null,
  ]
    .filter(Boolean)
    .join(", ");
}

/** Return what a result is where it is no ranking: a table of groups, of a comparison, of a statement; a path. */
export const kindOf = ({ table, reading }: Result): string =>
  table?.kind ?? (reading?.text?.startsWith("path ") ? "path" : "");

/** Tell whether a question could not be read exactly: its hits are the nearest nodes, and none is an answer. */
export function isUnread({ reading, refusal }: Result): boolean {
  return refusal !== null && reading !== null && reading.text === null;
}

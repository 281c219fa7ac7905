/** What the server has, and the door before it. */

import { keepKey } from "./api";
import { byId, el } from "./dom";
import { language, say } from "./texts";

export type ServedGraph = {
  name: string;
  is_ready: boolean;
  is_partial: boolean;
  is_failed: boolean;
  nodes: number;
  edges: number;
  node_types: Record<string, number>;
  labels: Record<string, string>;
  stage: string | null;
  done: number | null;
  of: number | null;
  seconds_left: number | null;
  files: number | null;
  of_files: number | null;
  vectors_seconds_left: number | null;
  generation: string | null;
};
export type Served = { graphs: ServedGraph[]; methods: string[]; model: string | null; has_feedback: boolean };

/** Before anything is known of a server. */
export const NOTHING_SERVED: Served = { graphs: [], methods: [], model: null, has_feedback: false };
export const NO_GRAPH: ServedGraph = {
  name: "",
  is_ready: false,
  is_partial: false,
  is_failed: false,
  nodes: 0,
  edges: 0,
  node_types: {},
  labels: {},
  stage: null,
  done: null,
  of: null,
  seconds_left: null,
  files: null,
  of_files: null,
  vectors_seconds_left: null,
  generation: null,
};
const LISTED_TYPES = 300; // a menu of more is no menu

/** Fill the menus that hold for the whole server. */
export function showServed({ graphs, methods, model }: Served): void {
  byId("model").textContent = model === null ? say("noModel") : say("model", { name: model });
  byId("model").title = model === null ? say("noModelHow") : "";
  byId("method").replaceChildren(...methods.map((method) => el("option", { value: method }, method)));
  byId("graph").replaceChildren(...graphs.map(({ name }) => el("option", { value: name }, name)));
  byId("graphs").hidden = graphs.length < 2;
}

/** Show which graph is asked, and the types that it can be asked for. */
export function showGraph(graph: ServedGraph, isOnly: boolean): void {
  byId<HTMLSelectElement>("graph").value = graph.name;
  byId("name").textContent = isOnly ? graph.name : "";
  byId("size").textContent = graph.nodes ? say("size", { nodes: graph.nodes, edges: graph.edges }) : "";
  const chosen = byId<HTMLSelectElement>("type").value;
  const types = Object.keys(graph.node_types).sort((a, b) => a.localeCompare(b, language));
  byId("type").replaceChildren(
    el("option", { value: "" }, say("any")),
    ...types.slice(0, LISTED_TYPES).map((type) => el("option", { value: type }, type)),
  );
  if (chosen in graph.node_types) byId<HTMLSelectElement>("type").value = chosen;
  document.title = `${graph.name} · Orienteer`;
}

/** Ask for a key in place of a question; `entered` is called once one is there. Returns whether it was asked before. */
export function askForKey(entered: () => void): boolean {
  const door = byId<HTMLFormElement>("door"),
    isSecond = !door.hidden;
  const field = el("input", {
    type: "password",
    id: "key",
    autocomplete: "off",
    required: true,
    "aria-describedby": "key-hint",
  });
  door.replaceChildren(
    el("label", { for: "key" }, say("key")),
    el("div", { class: "row" }, field, el("button", { class: "main", type: "submit" }, say("enter"))),
    el("p", { class: "dim", id: "key-hint" }, say("keyHint")),
  );
  door.onsubmit = (event) => {
    event.preventDefault();
    keepKey(field.value);
    entered();
  };
  openDoor(false);
  field.focus();
  return isSecond;
}

/** Show the question in place of the door, or the door in place of the question. */
export function openDoor(isOpen: boolean): void {
  byId("door").hidden = isOpen;
  byId("form").hidden = !isOpen;
}

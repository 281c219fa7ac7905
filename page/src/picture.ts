/** The right side: the picture with its tools, what no edge of it shows, and all of it as lists for who cannot see it. */

import { post } from "./api";
import { byId, canDraw, el } from "./dom";
import type { Drawing } from "./drawing";
import { fileName, png, save, svg } from "./files";
import type { Placed, Settler } from "./layout";
import { Layered } from "./layered";
import { columnsOf, MOST_KINDS, type Content, type LayeredNode } from "./layers";
import { colorNumber, dot } from "./palette";
import { MOST_NODES, said, type DrawnNode, type Edge, type Hit, type Subgraph } from "./records";
import { number, say } from "./texts";

const DRAWN_HITS = 25,
  AROUND = 12,
  DRAWN_NODES = 140,
  NAMED = 20,
  LISTED = 400; // hits, neighbours of a node that would be alone, nodes where nothing is proved, nodes that calls named, lines of a list
const FREE_SCALE = 0.05; // of pixels, in the units of the free layout
const NOTHING: Content = { columns: [], edges: [], paths: new Map() };

export type Uses = {
  graph: () => string;
  question: () => string;
  edgeName: (type: string) => string;
  pick: (id: string | null) => void;
  hover: (id: string | null) => void;
};

/** Have nodes laid out in a worker, so that the page never waits. */
function inWorker(tell: (placed: Placed) => void): Settler {
  const worker = new Worker(new URL(LAYOUT_WORKER, import.meta.url).href, { type: "module" });
  worker.onmessage = ({ data }: MessageEvent<Placed>) => tell(data);
  return {
    begin: (wanted) => worker.postMessage(wanted, [wanted.nodes.buffer, wanted.edges.buffer]),
    stop: () => worker.terminate(),
  };
}

export class Picture {
  readonly layers: Layered;
  private readonly room = el("div", { class: "free", role: "img", "aria-label": say("canvas"), hidden: true });
  proof = NOTHING;
  /** All nodes that were told, drawn or not. */
  known: readonly DrawnNode[] = [];
  private drawing: Drawing | null = null;
  /** What was left out of what is drawn, in words. */
  private lacks: string[] = [];
  private proofLacks: string[] = [];
  private asked = 0;

  constructor(private readonly uses: Uses) {
    const words = { more: (n: number) => say("bundled", { n }), fewer: say("fewer"), kinds: (n: number) => say("kindsOfEdges", { n }), edge: uses.edgeName };
    this.layers = new Layered(byId("canvas"), { pick: uses.pick, hover: uses.hover, words, label: say("canvas") });
    byId("canvas").append(this.room);
    byId("fit").onclick = () => this.fit();
    byId("clear").onclick = () => this.clear();
    byId("proof").onclick = () => this.back();
    byId("labels").onclick = ({ currentTarget }) => {
      const button = currentTarget as HTMLElement,
        names = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(names));
      this.layers.root.classList.toggle("unnamed", !names);
      this.drawing?.nameEdges(names);
    };
    byId("svg").onclick = () => save(fileName(uses.question(), "svg"), this.file().bytes);
    byId("png").onclick = () => {
      const { bytes, width, height } = this.file();
      void png(bytes, width, height).then((made) => save(fileName(uses.question(), "png"), made));
    };
    for (const [id, ending] of [
      ["svg", "SVG"],
      ["png", "PNG"],
    ] as const)
      byId(id).setAttribute("aria-label", `${say("savePicture")}: ${ending}`);
  }

  clear(): void {
    this.asked++;
    this.lacks = [];
    this.proof = NOTHING;
    this.show(NOTHING, 0);
    byId("blank").textContent = say("emptyPicture");
    byId("told").replaceChildren();
  }

  /** Say that there is no picture, for nothing joins what was found. */
  none(why: "noPicture" | "noNodes" = "noPicture"): void {
    this.clear();
    byId("blank").textContent = say(why);
  }

  fit(): void {
    if (this.isFree) this.drawing?.fit();
    else this.layers.root.scrollTo(0, 0);
  }
  resize(): void {
    if (this.isFree) this.drawing?.resize();
    else this.layers.draw();
  }
  restyle(): void {
    this.drawing?.restyle();
  }
  mark(id: string | null, hasNeighbors = false): void {
    (this.isFree ? this.drawing : this.layers)?.mark(id, hasNeighbors);
  }
  focus(id: string): void {
    if (!this.isFree) this.layers.focus(id);
    else if (this.drawing?.graph.hasNode(id)) this.drawing.focus(id);
    else this.drawing?.mark(null);
  }

  /** Draw hits with the ways that lead to them; where nothing is proved, with what tool calls named. `total` nodes answer. */
  async draw(hits: readonly Hit[], named: Iterable<string>, signal: AbortSignal, total: number | null, kind: string): Promise<void> {
    const isPath = kind === "path",
      shown = hits.slice(0, DRAWN_HITS),
      isRead = shown.some((hit) => hit.complete);
    const main = isRead ? shown.filter((hit) => hit.complete) : shown;
    const traced = main.filter((hit) => hit.edges.length),
      proved = unique(traced.flatMap((hit) => hit.edges));
    const ways = proved.flatMap((edge) => [edge.source, edge.target]);
    const wanted = [...new Set([...main.map((hit) => hit.id), ...ways, ...(traced.length || isRead ? [] : named)])];
    if (!wanted.length) return;
    if (isRead && !isPath && !traced.length && main.length > 1) {
      this.none();
      this.tellMet(main);
      return;
    }
    const mine = ++this.asked,
      most = traced.length ? MOST_NODES : DRAWN_NODES,
      around = wanted.length === 1 && !hits[0]?.meets?.length ? AROUND : 0;
    const nodes = [...new Set([...wanted.slice(0, most - NAMED), ...[...named].slice(0, NAMED)])]; // what is named has a name at least
    const { truncated, ...told } = await post<Subgraph>("api/subgraph", { graph: this.uses.graph(), nodes, around }, signal);
    if (mine !== this.asked) return;
    this.known = told.nodes;
    const kept = new Set(isRead && !around ? wanted : told.nodes.map((node) => node.id)),
      found = {
        nodes: told.nodes.filter((node) => kept.has(node.id)),
        edges: told.edges.filter((edge) => kept.has(edge.source) && kept.has(edge.target)),
      };
    const edges = isRead && !isPath && !around ? proved : found.edges,
      undrawn = unique([...edges, ...found.edges]).length - edges.length;
    this.proofLacks = [
      wanted.length > most - NAMED || truncated ? say("leftOut") : "",
      undrawn ? say("amongUndrawn", { n: undrawn }) : "",
    ].filter(Boolean);
    if (!edges.length && wanted.length > 1 && ![...named].length) {
      this.none();
      return;
    }
    const answers = kind === "compare" ? say("inCommon") : !isRead ? say("hits") : total !== null && total > main.length ? say("firstOf", { n: main.length, all: total }) : say("answers");
    this.proof = this.inColumns(main, edges, found.nodes, isPath ? "" : answers, isPath);
    this.back();
    this.tellMet(main);
  }

  /** Show a picture in columns in place of what there is; so many edges among its nodes it leaves out. */
  show(content: Content, undrawn: number): void {
    this.lacks = undrawn ? [say("amongUndrawn", { n: undrawn })] : [];
    this.drawing?.end();
    this.drawing = null;
    this.room.hidden = true;
    this.layers.root.hidden = false;
    this.layers.show(content);
    this.tell();
  }

  /** Show the proof again after another picture in columns. */
  back(): void {
    this.show(this.proof, 0);
    this.lacks = this.proofLacks;
    this.tell();
  }

  /** Add nodes near one that is there, and the edges among all that is drawn: nodes now move freely. */
  async grow(nodes: DrawnNode[], edges: Edge[], near: string): Promise<void> {
    const mine = this.asked,
      wasFree = this.isFree,
      drawing = await this.free();
    if (!drawing || mine !== this.asked) return;
    drawing.add(nodes, edges, new Set(), near, wasFree);
    this.tell();
    const drawn = drawing.graph.nodes();
    const found = await post<Subgraph>("api/subgraph", { graph: this.uses.graph(), nodes: drawn }).catch(() => null);
    if (drawing !== this.drawing) return;
    this.lacks = found === null ? [say("amongUnknown")] : found.truncated ? [say("leftOut")] : [];
    if (found) drawing.add([], found.edges, new Set(), near, wasFree);
    this.tell();
  }

  // ------------------------------------------------------------------------------------------------------------ within

  private get isFree(): boolean {
    return this.drawing !== null;
  }

  private file(): { bytes: Blob; width: number; height: number } {
    if (!this.drawing) return this.layers.file();
    const shapes = this.drawing.shapes();
    return { bytes: svg(shapes), width: shapes.width, height: shapes.height };
  }

  /** Return the picture that nodes move freely in, at first with what stands in columns; null where it cannot be drawn. */
  private async free(): Promise<Drawing | null> {
    if (this.drawing) return this.drawing;
    if (!canDraw()) {
      this.lacks = [say("noWebgl")];
      this.tell();
      return null;
    }
    const parts = (await import(new URL(FREE_DRAWING, import.meta.url).href)) as typeof import("./drawing");
    const { edgeName, pick, hover } = this.uses,
      { nodes, edges } = this.layers;
    this.layers.root.hidden = true;
    this.room.hidden = false;
    this.drawing = new parts.Drawing(this.room, inWorker, { name: edgeName, pick, hover, color: colorNumber });
    const placed = nodes.map((node) => {
      const at = this.layers.at(node.id) ?? { x: 0, y: 0 };
      return { ...node, degree: 1, x: at.x * FREE_SCALE, y: -at.y * FREE_SCALE };
    });
    this.drawing.add(placed, [...edges], new Set(nodes.map((node) => node.id)));
    this.drawing.trace(this.proof.paths);
    return this.drawing;
  }

  private inColumns(hits: readonly Hit[], edges: Edge[], found: readonly DrawnNode[], answers: string, isPath: boolean): Content {
    const known = new Map<string, LayeredNode>(hits.map((hit) => [hit.id, { ...hit, about: "" }])),
      named = new Set<string>();
    for (const end of hits.flatMap((hit) => hit.ends ?? [])) {
      if (end.role === "named") named.add(end.id);
      if (!known.has(end.id) || end.role === "named") known.set(end.id, { ...end, about: named.has(end.id) ? say("named") : "" });
    }
    for (const node of found) if (!known.has(node.id)) known.set(node.id, { ...node, about: "" });
    const columns = columnsOf(hits, edges, found.map((node) => node.id), isPath).map((ids, column) => {
      const nodes = ids.map((id) => known.get(id) ?? { id, name: id, type: "?", about: "" }),
        types = [...new Set(nodes.map((node) => node.type))].slice(0, 2).join(" · ");
      const title = column === 0 ? answers : isPath ? "" : ids.every((id) => named.has(id)) ? say("named") : types;
      return { title, nodes };
    });
    return { columns, edges, paths: new Map(hits.map((hit) => [hit.id, hit.edges])) };
  }

  /** Say beneath the picture what the answers meet that no edge shows: once what all of them do. */
  private tellMet(hits: readonly Hit[]): void {
    const [first] = hits,
      shared = (first?.meets ?? []).filter((met) => hits.length > 1 && hits.every((hit) => hit.meets?.includes(met)));
    const own = hits.map((hit) => ({ hit, met: (hit.meets ?? []).filter((met) => !shared.includes(met)) })).filter(({ met }) => met.length);
    const line = (name: string, met: readonly string[]) => el("li", {}, el("strong", {}, `${name}: `), met.map((one) => said(one, this.uses.edgeName)).join("; "));
    const kinds = this.bundled().map((names) => el("li", {}, el("strong", {}, `${say("kindsOfEdges", { n: names.length })}: `), names.join(", ")));
    const lines = [...(shared.length ? [line(say("allOfThem"), shared)] : []), ...own.map(({ hit, met }) => line(hit.name || hit.id, met))];
    byId("told").replaceChildren(
      ...(kinds.length ? [el("ul", { class: "kinds" }, ...kinds)] : []),
      ...(lines.length ? [el("h2", {}, say("meets")), el("ul", { tabindex: "0" }, ...lines)] : []),
    );
  }

  /** Return the names of the edges between two columns where the picture has one label for them all. */
  private bundled(): string[][] {
    const at = new Map(this.proof.columns.flatMap(({ nodes }, column) => nodes.map((node) => [node.id, column] as const))),
      kinds = new Map<string, Set<string>>();
    for (const { source, type, target } of this.proof.edges) {
      const [left = 0, right = 0] = [at.get(source) ?? 0, at.get(target) ?? 0].sort((a, b) => a - b);
      if (right - left > 1) continue;
      const key = `${left} ${right}`;
      kinds.set(key, (kinds.get(key) ?? new Set()).add(this.uses.edgeName(type)));
    }
    return [...kinds.values()].filter((names) => names.size > MOST_KINDS).map((names) => [...names]);
  }

  /** Say beside the picture what is in it. */
  private tell(): void {
    const nodes = this.drawing?.graph.order ?? this.layers.nodes.length;
    byId("tools").hidden = !nodes;
    byId("blank").hidden = nodes > 0;
    byId("proof").hidden = !this.isFree || !this.proof.columns.length;
    const limits = [nodes >= MOST_NODES ? say("noMore") : "", ...this.lacks].filter(Boolean);
    byId("drawn").textContent = nodes ? [say("drawn", this.inSight()), ...limits].join(" · ") : "";
    this.legend();
    this.list();
  }

  /** Return how many nodes and edges are shown, without those of types that are hidden. */
  private inSight(): { nodes: number; edges: number } {
    const { hidden } = this.drawing ?? this.layers,
      shown = new Set(this.nodes().filter((node) => !hidden.has(node.type)).map((node) => node.id));
    const edges = this.drawing?.graph.mapEdges((_, __, source, target) => ({ source, target })) ?? this.layers.edges;
    return { nodes: shown.size, edges: edges.filter(({ source, target }) => shown.has(source) && shown.has(target)).length };
  }

  private legend(): void {
    const counts = new Map<string, number>(),
      shown = this.drawing ?? this.layers;
    for (const { type } of this.nodes()) counts.set(type, (counts.get(type) ?? 0) + 1);
    const toggle = (type: string, isShown: boolean) => {
      if (isShown) shown.hidden.delete(type);
      else shown.hidden.add(type);
      if (this.drawing) this.drawing.refresh();
      else this.layers.draw();
      const [, ...limits] = (byId("drawn").textContent ?? "").split(" · ");
      byId("drawn").textContent = [say("drawn", this.inSight()), ...limits].join(" · ");
    };
    byId("legend").replaceChildren(
      ...[...counts].map(([type, count]) =>
        el(
          "li",
          {},
          el(
            "label",
            {},
            el("input", {
              type: "checkbox",
              checked: !shown.hidden.has(type),
              onchange: (event) => toggle(type, (event.target as HTMLInputElement).checked),
            }),
            dot(type),
            `${type} `,
            el("span", { class: "count" }, number(count)),
          ),
        ),
      ),
    );
  }

  private nodes(): { id: string; name: string; type: string }[] {
    return this.drawing?.graph.mapNodes((id, look) => ({ id, name: look.name, type: look.kind })) ?? this.layers.nodes;
  }

  /** List nodes and edges, whole: names and columns in the picture have the room of a screen. */
  private list(): void {
    const nodes = this.nodes(),
      names = new Map(nodes.map((node) => [node.id, node.name])),
      link = (id: string) => el("button", { class: "link", onclick: () => this.uses.pick(id) }, names.get(id) || id);
    const edges = this.isFree ? [] : this.layers.edges;
    byId("nodes").hidden = !nodes.length;
    byId("nodes").replaceChildren(
      el("summary", {}, say("nodeList")),
      el(
        "div",
        {},
        el("ul", {}, ...nodes.slice(0, LISTED).map((node) => el("li", {}, link(node.id), ` ${node.type}`)), more(nodes)),
        el(
          "ul",
          { class: "edges" },
          ...edges
            .slice(0, LISTED)
            .map(({ source, type, target }) => el("li", {}, link(source), el("span", { class: "edge" }, ` ${this.uses.edgeName(type)} → `), link(target))),
          more(edges),
        ),
      ),
    );
  }
}

const more = (all: readonly unknown[]): HTMLElement | null =>
  all.length > LISTED ? el("li", { class: "dim" }, say("more", { n: all.length - LISTED })) : null;

/** Return edges, each once. */
export function unique(edges: readonly Edge[]): Edge[] {
  return [...new Map(edges.map((edge) => [`${edge.source}\u0000${edge.type}\u0000${edge.target}`, edge])).values()];
}

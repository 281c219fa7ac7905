/** The right side: the picture with its tools, its legend, and its nodes as a list for who cannot see it. */

import { post } from "./api";
import { byId, el } from "./dom";
import { canDraw, Drawing, MOST_NODES } from "./drawing";
import { fileName, png, save, svg } from "./files";
import type { Placed, Settler } from "./layout";
import { dot } from "./palette";
import type { DrawnNode, Edge, Hit, Subgraph } from "./records";
import { number, say } from "./texts";

const DRAWN_HITS = 25,
  AROUND = 12,
  DRAWN_NODES = 120,
  LISTED = 200; // hits, neighbours of a node that would be alone, nodes in all, nodes in the list

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
  private drawing: Drawing | null = null;
  private leftOut = false;

  constructor(private readonly uses: Uses) {
    byId("fit").onclick = () => this.drawing?.fit();
    byId("clear").onclick = () => this.clear();
    byId("labels").onclick = ({ currentTarget }) => {
      const button = currentTarget as HTMLElement,
        names = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(names));
      this.drawing?.nameEdges(names);
    };
    byId("svg").onclick = () => {
      if (this.drawing) save(fileName(this.uses.question(), "svg"), svg(this.drawing.shapes()));
    };
    byId("png").onclick = () => {
      if (this.drawing)
        void png(this.drawing.shapes()).then((bytes) => save(fileName(this.uses.question(), "png"), bytes));
    };
    for (const [id, ending] of [
      ["svg", "SVG"],
      ["png", "PNG"],
    ] as const)
      byId(id).setAttribute("aria-label", `${say("savePicture")}: ${ending}`);
  }

  clear(): void {
    this.leftOut = false;
    this.drawing?.clear();
    this.tell();
  }

  fit(): void {
    this.drawing?.fit();
  }
  resize(): void {
    this.drawing?.resize();
  }
  restyle(): void {
    this.drawing?.restyle();
  }
  mark(id: string | null, hasNeighbors = false): void {
    this.drawing?.mark(id, hasNeighbors);
  }
  focus(id: string): void {
    if (this.drawing?.graph.hasNode(id)) this.drawing.focus(id);
    else this.drawing?.mark(null);
  }

  /** Draw hits, the ways that lead to them, and what tool calls named. */
  async draw(hits: readonly Hit[], named: Iterable<string>, signal: AbortSignal): Promise<void> {
    const shown = hits.slice(0, DRAWN_HITS),
      isRead = shown.some((hit) => hit.complete);
    const traced = shown.filter((hit) => hit.edges.length && (hit.complete || !isRead));
    const ways = traced.flatMap((hit) => hit.edges.flatMap((edge) => [edge.source, edge.target]));
    const main = (isRead ? shown.filter((hit) => hit.complete) : shown).map((hit) => hit.id);
    const wanted = [...new Set([...main, ...ways, ...named])].slice(0, DRAWN_NODES);
    if (!wanted.length) return;
    const found = await post<Subgraph>(
      "api/subgraph",
      { graph: this.uses.graph(), nodes: wanted, around: wanted.length === 1 ? AROUND : 0 },
      signal,
    );
    const strong = new Set([...main, ...ways]);
    this.add(found.nodes, found.edges, strong, undefined, new Map(traced.map((hit) => [hit.id, hit.edges])));
    this.leftOut = found.truncated;
    this.tell();
  }

  /** Add nodes near one that is there. */
  grow(nodes: DrawnNode[], edges: Edge[], near: string): void {
    this.add(nodes, edges, new Set(), near);
  }

  private add(
    nodes: DrawnNode[],
    edges: Edge[],
    strong: ReadonlySet<string>,
    near?: string,
    paths?: ReadonlyMap<string, Edge[]>,
  ): void {
    if (!this.drawing && !canDraw()) {
      byId("blank").textContent = say("noWebgl");
      return;
    }
    const { edgeName, pick, hover } = this.uses;
    this.drawing ??= new Drawing(byId("canvas"), inWorker, { name: edgeName, pick, hover });
    this.drawing.add(nodes, edges, strong, near);
    if (paths) this.drawing.trace(paths);
    this.tell();
  }

  /** Say beside the picture what is in it. */
  private tell(): void {
    const graph = this.drawing?.graph,
      order = graph?.order ?? 0;
    byId("tools").hidden = !order;
    byId("blank").hidden = order > 0;
    const limits = [order >= MOST_NODES ? say("noMore") : "", this.leftOut ? say("leftOut") : ""]
      .filter(Boolean)
      .join(", ");
    byId("drawn").textContent = order
      ? [say("drawn", { nodes: order, edges: graph?.size ?? 0 }), limits].filter(Boolean).join(" · ")
      : "";
    this.legend();
    this.list();
  }

  private legend(): void {
    const counts = new Map<string, number>(),
      hidden = this.drawing?.hidden ?? new Set<string>();
    this.drawing?.graph.forEachNode((_, look) => counts.set(look.kind, (counts.get(look.kind) ?? 0) + 1));
    const toggle = (type: string, isShown: boolean) => {
      if (isShown) hidden.delete(type);
      else hidden.add(type);
      this.drawing?.refresh();
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
              checked: !hidden.has(type),
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

  private list(): void {
    const graph = this.drawing?.graph,
      box = byId<HTMLDetailsElement>("nodes");
    box.hidden = !graph?.order;
    const nodes = (graph?.mapNodes((id, look) => ({ id, name: look.name, type: look.kind })) ?? []).slice(0, LISTED);
    box.replaceChildren(
      el("summary", {}, say("nodeList")),
      el(
        "ul",
        {},
        ...nodes.map((node) =>
          el(
            "li",
            {},
            el("button", { class: "link", onclick: () => this.uses.pick(node.id) }, node.name),
            ` ${node.type}`,
          ),
        ),
      ),
    );
  }
}

/** The picture: what was asked for, never the whole graph. It knows nothing of the rest of the page. */

import Graph from "graphology";
import Sigma from "sigma";
import { plain } from "./dom";
import type { Placed, Settler } from "./layout";
import { COLORS, themed } from "./palette";
import { MOST_NODES, type DrawnNode, type Edge } from "./records";

const NAMED_EDGES = 60,
  NAMED_BESIDE = 16,
  NAMED_PATHS = 30; // with more edges than that, in all, beside a node or on paths, none of them is named
const FORCED_LABELS = 22,
  FORCED_LIT = 12; // of so many nodes, every one shows its name
const LABEL = 30; // characters
const FULL_SIZE = 200; // nodes; of more, each is smaller
const STRONG_SIZE = 8,
  WEAK_SIZE = 5;

type NodeLook = {
  label: string;
  name: string;
  type: "circle";
  kind: string;
  x: number;
  y: number;
  size: number;
  color: string;
  strong: boolean;
  placed: boolean;
};
type EdgeLook = { kinds: string[]; label: string; size: number; color: string; type: "arrow"; onPath: boolean };
/** What is shown while a node is marked, all else being grey: the way that leads to it, and what is beside it. */
type Lit = { nodes: Set<string>; path: Set<string>; beside: Set<string> };
type Heard = {
  pick: (id: string | null) => void;
  hover: (id: string | null) => void;
  name: (edgeType: string) => string;
  color: (nodeType: string) => number;
};

const keyOf = (edge: Edge): string => `${edge.source}\u0000${edge.target}`;

/** Return a name as short as a label must be: of the heading of a passage the last part, `Guide > Keys` -> `Keys`. */
function shortened(name: string): string {
  const last = plain(name.split(" > ").at(-1) ?? name);
  return last.length > LABEL ? `${last.slice(0, LABEL - 1)}…` : last;
}

const isCalm = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Drawing {
  readonly graph = new Graph<NodeLook, EdgeLook>({ multi: true, type: "directed" });
  /** Node types that are not shown. */
  readonly hidden = new Set<string>();
  private readonly sigma: Sigma<NodeLook, EdgeLook>;
  private readonly settler: Settler;
  private readonly paths = new Map<string, Edge[]>();
  private run = 0;
  private order: string[] = [];
  private lit: Lit | null = null;
  private onPaths = 0;
  private namesEdges = true;
  private theme = { front: "", dim: "", line: "", main: "", card: "", back: "" };

  constructor(
    private readonly box: HTMLElement,
    settling: (tell: (placed: Placed) => void) => Settler,
    private readonly heard: Heard,
  ) {
    this.settler = settling((placed) => this.place(placed));
    this.sigma = this.drawn();
    this.restyle();
  }

  /** Add nodes and the edges among them; `strong` ones are larger. Near a node that is there already, what was placed stays where it is, if it is held. */
  add(nodes: (DrawnNode & { x?: number; y?: number })[], edges: Edge[], strong: ReadonlySet<string>, near?: string, isHeld = near !== undefined): void {
    const center = near !== undefined && this.graph.hasNode(near) ? this.graph.getNodeAttributes(near) : { x: 0, y: 0 };
    const fresh = nodes
      .filter((node) => !this.graph.hasNode(node.id))
      .slice(0, Math.max(0, MOST_NODES - this.graph.order));
    fresh.forEach((node, place) => {
      const angle = (2 * Math.PI * place) / Math.max(1, fresh.length),
        radius = (near === undefined ? 10 : 4) * (1 + (place % 3) / 4);
      this.graph.addNode(node.id, {
        name: node.name || node.id,
        label: shortened(node.name || node.id),
        type: "circle",
        kind: node.type,
        x: node.x ?? center.x + radius * Math.cos(angle),
        y: node.y ?? center.y + radius * Math.sin(angle),
        size: (strong.has(node.id) ? STRONG_SIZE : WEAK_SIZE) + Math.min(4, Math.log10(1 + node.degree)),
        color: COLORS[this.heard.color(node.type)] ?? "",
        strong: strong.has(node.id),
        placed: false,
      });
    });
    this.join(edges);
    this.settle(isHeld);
  }

  /** Draw the way that leads to each hit: its edges are named where they are few, and shown alone while it is marked. */
  trace(paths: ReadonlyMap<string, Edge[]>): void {
    for (const [hit, edges] of paths) {
      this.paths.set(hit, edges);
      for (const edge of edges)
        if (this.graph.hasEdge(keyOf(edge))) this.graph.setEdgeAttribute(keyOf(edge), "onPath", true);
    }
    this.onPaths = this.graph.filterEdges((_, look) => look.onPath).length;
    this.refresh();
  }

  clear(): void {
    this.run++;
    this.lit = null;
    this.paths.clear();
    this.hidden.clear();
    this.graph.clear();
    this.sigma.getCamera().setState({ x: 0.5, y: 0.5, ratio: 1, angle: 0 });
    this.sigma.refresh();
  }

  fit(): void {
    this.sigma.getCamera().animatedReset({ duration: isCalm() ? 0 : 300 });
  }

  zoom(isCloser: boolean): void {
    const camera = this.sigma.getCamera(),
      options = { duration: isCalm() ? 0 : 200 };
    void (isCloser ? camera.animatedZoom(options) : camera.animatedUnzoom(options));
  }

  /** Let go of the browser's memory; the drawing is of no use afterwards. */
  end(): void {
    this.settler.stop();
    this.sigma.kill();
  }

  resize(): void {
    this.sigma.resize();
    this.sigma.refresh();
  }

  refresh(): void {
    this.sigma.refresh({ skipIndexation: true });
  }

  /** Name the edges, or do not. */
  nameEdges(names: boolean): void {
    this.namesEdges = names;
    this.refresh();
  }

  /** Show a node with the way that leads to it, where there is none or `hasNeighbors` with its neighbours; null shows all again. */
  mark(id: string | null, hasNeighbors = false): void {
    this.lit = id === null || !this.graph.hasNode(id) ? null : this.around(id, hasNeighbors);
    this.refresh();
  }

  /** Mark a node and move it into sight where it is not: no zoom, who looks keeps what is around it. */
  focus(id: string): void {
    this.mark(id, true);
    const at = this.sigma.getNodeDisplayData(id);
    if (!at) return;
    const { x, y } = this.sigma.framedGraphToViewport(at),
      { width, height } = this.sigma.getDimensions();
    if (x < 20 || y < 20 || x > width - 20 || y > height - 20)
      this.sigma.getCamera().animate({ x: at.x, y: at.y }, { duration: isCalm() ? 0 : 300 });
  }

  /** Take over the colours of the theme. */
  restyle(): void {
    for (const name of Object.keys(this.theme) as (keyof typeof this.theme)[]) this.theme[name] = themed(`--${name}`, this.box);
    this.sigma.setSetting("labelColor", { color: this.theme.front });
    this.sigma.setSetting("edgeLabelColor", { color: this.theme.dim });
    this.refresh();
  }

  /** Return what is seen, as shapes in pixels of the box. */
  shapes(): Shapes {
    const { width, height } = this.sigma.getDimensions(),
      front = this.theme.front;
    const at = (id: string) => {
      const { x, y } = this.graph.getNodeAttributes(id);
      return this.sigma.graphToViewport({ x, y });
    };
    const lines = this.graph
      .filterEdges((edge) => !this.edgeLook(edge, this.graph.getEdgeAttributes(edge)).hidden)
      .map((edge) => {
        const look = this.edgeLook(edge, this.graph.getEdgeAttributes(edge));
        return {
          from: at(this.graph.source(edge)),
          to: at(this.graph.target(edge)),
          color: look.color,
          width: look.size,
          label: look.label ?? "",
          margin: this.graph.getNodeAttribute(this.graph.target(edge), "size"),
        };
      });
    const circles = this.graph
      .filterNodes((_, look) => !this.hidden.has(look.kind))
      .map((id) => {
        const look = this.nodeLook(id, this.graph.getNodeAttributes(id));
        return { at: at(id), radius: look.size, color: look.color, label: look.label ?? "" };
      });
    return { width, height, back: this.theme.back, front, dim: this.theme.dim, lines, circles };
  }

  // ------------------------------------------------------------------------------------------------------------ within

  private join(edges: Edge[]): void {
    for (const edge of edges) {
      if (!this.graph.hasNode(edge.source) || !this.graph.hasNode(edge.target)) continue;
      const key = keyOf(edge); // parallel edges are one line with all their names: labels do not lie on each other
      if (!this.graph.hasEdge(key))
        this.graph.addEdgeWithKey(key, edge.source, edge.target, {
          kinds: [],
          label: "",
          size: 1.2,
          color: "",
          type: "arrow",
          onPath: false,
        });
      const kinds = [...new Set([...this.graph.getEdgeAttribute(key, "kinds"), edge.type])];
      this.graph.mergeEdgeAttributes(key, { kinds, label: shortened(kinds.map(this.heard.name).join(", ")) });
    }
  }

  private settle(isHeld: boolean): void {
    this.order = this.graph.nodes();
    const places = new Map(this.order.map((id, place) => [id, place])),
      nodes = new Float32Array(this.order.length * 4);
    this.order.forEach((id, place) => {
      const { x, y, size, placed } = this.graph.getNodeAttributes(id);
      nodes.set([x, y, size, isHeld && placed ? 1 : 0], place * 4);
      this.graph.setNodeAttribute(id, "placed", true);
    });
    const edges = new Uint32Array(
      this.graph.mapEdges((_, __, source, target) => [places.get(source) ?? 0, places.get(target) ?? 0]).flat(),
    );
    const milliseconds = isCalm() ? 300 : Math.min(4000, 600 + 3 * this.order.length);
    this.settler.begin({ run: ++this.run, nodes, edges, milliseconds });
    this.sigma.refresh();
  }

  private place({ run, at, done }: Placed): void {
    if (run !== this.run || (isCalm() && !done)) return;
    this.order.forEach((id, place) =>
      this.graph.mergeNodeAttributes(id, { x: at[place * 2] ?? 0, y: at[place * 2 + 1] ?? 0 }),
    );
    if (done) this.box.dataset.settled = String(run);
  }

  private around(id: string, hasNeighbors: boolean): Lit {
    const path = this.paths.get(id) ?? [],
      isWide = hasNeighbors || !path.length;
    const nodes = [
      id,
      ...path.flatMap((edge) => [edge.source, edge.target]),
      ...(isWide ? this.graph.neighbors(id) : []),
    ];
    return {
      nodes: new Set(nodes),
      path: new Set(path.map(keyOf)),
      beside: new Set(isWide ? this.graph.edges(id) : []),
    };
  }

  private nodeLook(id: string, look: NodeLook): NodeLook & { hidden: boolean; forceLabel: boolean; zIndex: number } {
    const isLit = this.lit === null || this.lit.nodes.has(id);
    return {
      ...look,
      hidden: this.hidden.has(look.kind),
      size: look.size * Math.max(0.4, Math.min(1, Math.sqrt(FULL_SIZE / this.graph.order))),
      zIndex: isLit ? 1 : 0,
      color: isLit ? look.color : this.theme.line,
      label: isLit ? look.label : "",
      forceLabel:
        isLit &&
        (this.lit !== null ? this.lit.nodes.size <= FORCED_LIT : look.strong && this.graph.order <= FORCED_LABELS),
    };
  }

  private edgeLook(edge: string, look: EdgeLook): EdgeLook & { hidden: boolean; zIndex: number; forceLabel: boolean } {
    const isBeside = this.lit?.beside.has(edge) ?? false,
      isStrong = this.lit === null ? look.onPath : this.lit.path.has(edge);
    const few =
      this.lit === null
        ? !this.paths.size && this.graph.size <= NAMED_EDGES
        : isBeside && this.lit.beside.size <= NAMED_BESIDE;
    const isNamed = this.namesEdges && ((isStrong && (this.lit !== null || this.onPaths <= NAMED_PATHS)) || few);
    const isHidden = [this.graph.source(edge), this.graph.target(edge)].some((id) =>
      this.hidden.has(this.graph.getNodeAttribute(id, "kind")),
    );
    return {
      ...look,
      hidden: isHidden,
      zIndex: isStrong ? 2 : isBeside ? 1 : 0,
      color: isStrong ? this.theme.main : isBeside || few ? this.theme.dim : this.theme.line,
      size: isStrong ? 3 : 1.5,
      label: isNamed ? look.label : "",
      forceLabel: false,
    };
  }

  private drawn(): Sigma<NodeLook, EdgeLook> {
    const sigma = new Sigma<NodeLook, EdgeLook>(this.graph, this.box, {
      renderEdgeLabels: true,
      edgeLabelSize: 11,
      labelFont: "system-ui, sans-serif",
      edgeLabelFont: "system-ui, sans-serif",
      labelSize: 13,
      labelRenderedSizeThreshold: 3,
      labelDensity: 0.7,
      hideEdgesOnMove: true,
      zIndex: true,
      allowInvalidContainer: true,
      stagePadding: 70,
      minEdgeThickness: 1,
      defaultDrawNodeLabel: (context, node, settings) => this.drawLabel(context, node, settings),
      defaultDrawNodeHover: (context, node, settings) => this.drawHover(context, node, settings), // the library's own is white, whatever the theme
      nodeReducer: (id, look) => this.nodeLook(id, look),
      edgeReducer: (edge, look) => this.edgeLook(edge, look),
    });
    sigma.on("clickNode", ({ node }) => this.heard.pick(node));
    sigma.on("clickStage", () => this.heard.pick(null));
    sigma.on("enterNode", ({ node }) => {
      this.box.style.cursor = "pointer";
      this.heard.hover(node);
    });
    sigma.on("leaveNode", () => {
      this.box.style.cursor = "";
      this.heard.hover(null);
    });
    return sigma;
  }

  /** Return where a label of a width begins: behind its node, or before it where it would be cut at the rim. */
  private labelLeft(node: Drawn, width: number): number {
    const left = node.x + node.size + 3;
    return left + width > this.sigma.getDimensions().width && node.x - node.size - 3 > width
      ? node.x - node.size - 3 - width
      : left;
  }

  private drawLabel(context: CanvasRenderingContext2D, node: Drawn, settings: Fonts): void {
    if (!node.label) return;
    context.font = `${settings.labelSize}px ${settings.labelFont}`;
    const left = this.labelLeft(node, context.measureText(node.label).width),
      base = node.y + settings.labelSize / 3;
    context.lineJoin = "round";
    context.lineWidth = 3;
    context.strokeStyle = this.theme.back; // so that an edge beneath does not cross it out
    context.strokeText(node.label, left, base);
    context.fillStyle = this.theme.front;
    context.fillText(node.label, left, base);
  }

  private drawHover(context: CanvasRenderingContext2D, node: Drawn, settings: Fonts): void {
    const label = node.label ?? "";
    context.font = `600 ${settings.labelSize}px ${settings.labelFont}`;
    const width = context.measureText(label).width + 8,
      left = this.labelLeft(node, width);
    if (label) {
      context.fillStyle = this.theme.card;
      context.strokeStyle = this.theme.line;
      context.beginPath();
      context.roundRect(left, node.y - settings.labelSize * 0.8, width, settings.labelSize * 1.6, 4);
      context.fill();
      context.stroke();
      context.fillStyle = this.theme.front;
      context.fillText(label, left + 4, node.y + settings.labelSize / 3);
    }
    context.fillStyle = node.color;
    context.strokeStyle = this.theme.front;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(node.x, node.y, node.size + 1, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  }
}

type Drawn = { x: number; y: number; size: number; color: string; label?: string | null };
type Fonts = { labelSize: number; labelFont: string };
type Point = { x: number; y: number };
/** A picture in pixels, for a file. */
export type Shapes = {
  width: number;
  height: number;
  back: string;
  front: string;
  dim: string;
  lines: { from: Point; to: Point; color: string; width: number; label: string; margin: number }[];
  circles: { at: Point; radius: number; color: string; label: string }[];
};

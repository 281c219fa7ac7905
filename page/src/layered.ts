/** A proof as an SVG in columns, for the page and for notebooks. It knows nothing of the rest of the page. */

import { el, plain, shape } from "./dom";
import { places, type Box, type Content, type Places, type Words } from "./layers";
import { COLORS, colorNumber } from "./palette";
import type { Edge } from "./records";

export type Heard = { pick: (id: string | null) => void; hover: (id: string | null) => void; words: Words; label: string };

const LINE = 16,
  TITLE = 200; // pixels of a line of a name, characters of a title
const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight", "paint-order"];
let made = 0;
type Lit = { nodes: ReadonlySet<string>; edges: ReadonlySet<Edge> | null };

export class Layered {
  /** Node types that are not shown. */
  readonly hidden = new Set<string>();
  readonly root = el("div", { class: "layers", tabindex: "0", role: "group" });
  private content: Content = { columns: [], edges: [], paths: new Map() };
  private readonly open = new Set<number>();
  private places: Places | null = null;
  /** What is drawn, by its element: an attribute holds no more than what is plain in an id. */
  private readonly drawnBy = new Map<Element, ReadonlySet<string>>();
  private picture = shape("svg");
  private lit: Lit | null = null;
  private rest: Lit | null = null;
  private readonly marker = `arrow${++made}`;

  constructor(
    private readonly box: HTMLElement,
    private readonly heard: Heard,
  ) {
    this.root.setAttribute("aria-label", heard.label);
    this.root.addEventListener("click", ({ target }) => target === this.root && this.heard.pick(null));
    box.append(this.root);
  }

  get nodes(): Content["columns"][number]["nodes"] {
    return this.content.columns.flatMap((column) => column.nodes);
  }

  get edges(): readonly Edge[] {
    return this.content.edges;
  }

  /** Show a proof in place of the one before. */
  show(content: Content): void {
    this.content = content;
    this.open.clear();
    this.hidden.clear();
    this.lit = this.rest = null;
    this.draw();
    this.root.scrollTo(0, 0);
  }

  has(id: string): boolean {
    return this.nodes.some((node) => node.id === id);
  }

  /** Return where a node stands, in pixels. */
  at(id: string): { x: number; y: number } | null {
    const box = this.boxOf(id);
    return box && { x: box.x, y: box.y };
  }

  end(): void {
    this.root.remove();
  }

  /** Light a node with the way that leads to it, where there is none or `isWide` with all beside it; null lights all. */
  mark(id: string | null, isWide = false): void {
    if (id === null || !this.has(id)) this.lit = this.rest;
    else {
      const own = this.content.paths.get(id),
        path = own?.length && !isWide ? own : this.content.edges.filter((edge) => edge.source === id || edge.target === id);
      const edges = [...(own ?? []), ...path];
      this.lit = { nodes: new Set([id, ...edges.flatMap((edge) => [edge.source, edge.target])]), edges: new Set(edges) };
    }
    this.relight();
  }

  /** Light nodes and the edges among them until others are lit, whatever is marked meanwhile; null lights all. */
  light(nodes: ReadonlySet<string> | null): void {
    this.lit = this.rest = nodes && { nodes, edges: null };
    const folded = (this.places?.boxes ?? []).filter((box) => box.hides.some((node) => nodes?.has(node.id)));
    for (const { column } of folded) this.open.add(column);
    if (folded.length) this.draw();
    else this.relight();
  }

  /** Light a node and move it into sight; what is in the rest of a long column is opened. */
  focus(id: string): void {
    const box = this.boxOf(id);
    if (box?.kind === "more") this.toggle(box.column);
    this.mark(id, true);
    for (const [element, ids] of this.drawnBy) if (ids.has(id)) element.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** Open a column that shows a dozen of its nodes, or fold it again. */
  toggle(column: number): void {
    if (!this.open.delete(column)) this.open.add(column);
    this.draw();
  }

  /** Draw it anew, for another room. */
  draw(): void {
    const { hidden } = this,
      columns = this.content.columns.map(({ title, nodes }) => ({ title, nodes: nodes.filter((node) => !hidden.has(node.type)) }));
    const kept = { ...this.content, columns: columns.filter(({ nodes }) => nodes.length) };
    this.root.replaceChildren();
    this.drawnBy.clear();
    this.places = null;
    if (!kept.columns.length) return;
    const room = { width: this.box.clientWidth || 640, height: this.box.clientHeight || 400 };
    this.places = places(kept, room, this.open, this.heard.words);
    this.picture = this.drawn(this.places);
    this.root.append(this.picture);
    this.relight();
    this.box.dataset.settled = String(++made);
  }

  /** Return the picture as a file that holds no script and loads nothing, with its size. */
  file(): { bytes: Blob; width: number; height: number } {
    const copy = this.picture.cloneNode(true) as SVGElement,
      { width = 0, height = 0 } = this.places ?? {};
    const originals = [...this.picture.querySelectorAll("*")];
    [...copy.querySelectorAll("*")].forEach((element, place) => {
      const style = getComputedStyle(originals[place]!);
      for (const name of STYLES) element.setAttribute(name, style.getPropertyValue(name));
    });
    const back = shape("rect", { width, height, fill: getComputedStyle(this.root).backgroundColor });
    copy.prepend(back);
    copy.setAttribute("font-family", "system-ui, sans-serif");
    return { bytes: new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }), width, height };
  }

  // ------------------------------------------------------------------------------------------------------------ within

  private boxOf(id: string): Box | null {
    return this.places?.boxes.find((box) => box.id === id || box.hides.some((node) => node.id === id)) ?? null;
  }

  private drawn({ width, height, font, boxes, lines, labels }: Places): SVGElement {
    const picture = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": this.heard.label, "font-size": font });
    const marker = shape("marker", { id: this.marker, viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 8, markerHeight: 8 });
    marker.setAttribute("markerUnits", "userSpaceOnUse");
    marker.setAttribute("orient", "auto-start-reverse");
    marker.append(shape("path", { d: "M0 0L8 4L0 8z", class: "tip" }));
    picture.append(marker);
    for (const line of lines) {
      const isBundle = [line.left, line.right].some((box) => box.kind === "more");
      const drawn = shape("path", { d: line.path, class: isBundle ? "line bundle" : "line" });
      drawn.dataset.edges = JSON.stringify(line.edges.map((edge) => [edge.source, edge.type, edge.target]));
      if (line.isForward) drawn.setAttribute("marker-end", `url(#${this.marker})`);
      if (line.isBackward) drawn.setAttribute("marker-start", `url(#${this.marker})`);
      drawn.append(shape("title", {}, `${line.left.name} ${line.text} ${line.right.name}`));
      picture.append(drawn);
    }
    for (const box of boxes) picture.append(this.mark_(box));
    for (const label of labels) {
      const drawn = shape("text", { x: label.x, y: label.y, "text-anchor": label.anchor, class: label.kind }, label.text);
      if (label.full !== label.text) drawn.append(shape("title", {}, label.full));
      picture.append(drawn);
    }
    return picture;
  }

  private mark_(box: Box): SVGElement {
    const drawn = shape("g", { class: box.node ? "mark" : "mark more", "data-id": box.id, "data-column": box.column });
    this.drawnBy.set(drawn, new Set((box.node ? [box.node] : box.hides).map((node) => node.id)));
    const half = box.height / 2;
    drawn.append(shape("rect", { x: box.x, y: box.y - half, width: box.width, height: box.height, rx: Math.min(12, half) }));
    const first = box.y + 4.5 - ((box.lines.length - 1) * LINE) / 2,
      begin = box.x + (box.node ? 22 : 15);
    box.lines.forEach((text, place) => drawn.append(shape("text", { x: begin, y: first + place * LINE }, text)));
    if (box.node) {
      const color = COLORS[colorNumber(box.node.type)] ?? "";
      drawn.append(shape("circle", { cx: box.x + 12.5, cy: box.y, r: 4.5, fill: color }));
      drawn.append(shape("title", {}, plain([box.node.name, box.node.type, box.node.about].filter(Boolean).join(" · ")).slice(0, TITLE)));
    }
    drawn.addEventListener("click", () => (box.node ? this.heard.pick(box.id) : this.toggle(box.column)));
    drawn.addEventListener("mouseenter", () => this.over(box.node ? box.id : null, true));
    drawn.addEventListener("mouseleave", () => this.over(null, false));
    return drawn;
  }

  private over(id: string | null, isOver: boolean): void {
    this.box.style.cursor = isOver ? "pointer" : "";
    this.heard.hover(id);
  }

  private relight(): void {
    const { lit } = this;
    this.picture.classList.toggle("lit", lit !== null);
    const edges = new Set([...(lit?.edges ?? [])].map((edge) => JSON.stringify([edge.source, edge.type, edge.target])));
    for (const element of this.picture.querySelectorAll<SVGElement>(".mark, .line")) {
      const own = JSON.parse(element.dataset.edges ?? "[]") as string[][];
      const isOn = element.matches(".line")
        ? own.some((edge) =>
            lit?.edges ? edges.has(JSON.stringify(edge)) : lit?.nodes.has(edge[0] ?? "") && lit.nodes.has(edge[2] ?? ""),
          )
        : [...(this.drawnBy.get(element) ?? [])].some((id) => lit?.nodes.has(id));
      element.classList.toggle("on", Boolean(isOn));
    }
  }
}

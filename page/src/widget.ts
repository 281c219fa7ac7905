/** A result, a graph or a schema in a notebook, by anywidget: what the static form says, and the page's own picture. */

import { canDraw, el } from "./dom";
import { hearHost } from "./host";
import { Drawing } from "./drawing";
import { settler } from "./layout";
import { Layered } from "./layered";
import { colorNumber, dot } from "./palette";
import type { DrawnNode, Edge } from "./records";

const FRAME_MILLISECONDS = 8; // of a layout in the notebook's own thread, which must go on scrolling
const EDGES_SHOWN = 30,
  HALF_BRIGHT = 128;

/** What `orienteer.page.notebook` sends: texts, tables with a node for each row of the first, and the picture. */
type Content = {
  title: string;
  paragraphs: string[];
  nodes: AboutNode[];
  edges: Edge[];
  strong: string[];
  paths: Record<string, Edge[]>;
  tables: { header: string[]; rows: string[][]; nodes: string[] }[];
  lines: string[];
  columns: [string, string[]][];
  grows: boolean;
};
type AboutNode = DrawnNode & { about: string[] };
/** What the kernel replies to `{node, offset}`: a page of the node's neighbours, or why there is none. */
type Reply = { node: string; nodes: AboutNode[]; edges: Edge[]; total: number; offset: number; error: string | null };
/** The model of anywidget, as far as it is used. */
type Model = {
  get: (name: "content") => Content;
  send: (wanted: { node: string; offset: number }) => void;
  on: (event: "msg:custom", listener: (reply: Reply) => void) => void;
  off: (event: "msg:custom", listener: (reply: Reply) => void) => void;
};

class Shown {
  private readonly content: Content;
  private readonly nodes = new Map<string, AboutNode>();
  private readonly grown = new Map<string, Reply[]>();
  private readonly area = el("div", { class: "drawing" });
  private readonly card = el("section", { class: "about", hidden: true, "aria-live": "polite" });
  private readonly legend = el("ul", { class: "legend" });
  private readonly root = el("div", { class: "orienteer notebook" });
  private readonly seen = new IntersectionObserver((entries) => this.turn(entries.at(-1)?.isIntersecting ?? false));
  private readonly sized = new ResizeObserver(() => (this.drawing ? this.drawing.resize() : this.layers?.draw()));
  private readonly themed = new MutationObserver(() => this.takeTheme());
  private readonly system = matchMedia("(prefers-color-scheme: dark)");
  private readonly takeTheme = () => this.restyle();
  private readonly hear = (reply: Reply) => this.grow(reply);
  private drawing: Drawing | null = null;
  private layers: Layered | null = null;
  private readonly proof = el("button", { onclick: () => this.fold(), hidden: true }, "Proof");
  private picked: string | null = null;
  private scrolls = true;

  constructor(
    private readonly model: Model,
    private readonly host: HTMLElement,
  ) {
    this.content = model.get("content");
    for (const node of this.content.nodes) this.nodes.set(node.id, node);
    const { title, paragraphs, tables, lines, nodes } = this.content;
    this.root.append(
      el("h3", {}, title),
      ...paragraphs.map((text) => el("p", { class: "told" }, text)),
      ...(nodes.length && (this.content.columns.length || canDraw()) ? [this.frame(), this.legend] : []),
      ...tables.map((table) => this.table(table)),
      ...lines.map((line) => el("p", { class: "dim" }, line)),
    );
    host.append(this.root);
    this.restyle();
    this.seen.observe(this.area);
    this.sized.observe(this.area);
    for (const element of [document.documentElement, document.body])
      this.themed.observe(element, { attributes: true, attributeFilter: ["class", "style", "data-jp-theme-light"] });
    this.system.addEventListener("change", this.takeTheme);
    model.on("msg:custom", this.hear);
  }

  /** Let go of everything: the cell was cleared. */
  end(): void {
    this.model.off("msg:custom", this.hear);
    this.system.removeEventListener("change", this.takeTheme);
    for (const observer of [this.seen, this.sized, this.themed]) observer.disconnect();
    this.turn(false);
    this.root.remove();
  }

  // ----------------------------------------------------------------------------------------------------- the picture

  /** Draw while the picture is in sight, for a browser has room for few of them at a time. */
  private turn(isInSight: boolean): void {
    if (!isInSight) this.leave();
    else if (!this.drawing && !this.layers && this.area.isConnected) {
      if (this.grown.size || !this.content.columns.length) this.draw();
      else this.drawInColumns();
      if (this.picked !== null) this.mark(this.picked);
    }
  }

  private leave(): void {
    this.drawing?.end();
    this.layers?.end();
    this.drawing = this.layers = null;
  }

  private mark(id: string | null, isWide = false): void {
    (this.drawing ?? this.layers)?.mark(id, isWide);
  }

  /** Draw the proof: a column for each variable of the reading. */
  private drawInColumns(): void {
    const { columns, edges, paths } = this.content;
    const words = { more: (n: number) => `+ ${n} more`, fewer: "fewer", kinds: (n: number) => `${n} kinds of edges`, edge: (type: string) => type },
      label = "The hits, and the edges that support them";
    this.layers = new Layered(this.area, { pick: (id) => this.pick(id), hover: (id) => this.mark(id ?? this.picked), words, label });
    this.layers.show({
      columns: columns.map(([title, ids]) => ({
        title,
        nodes: ids.map((id) => ({ ...{ id, name: id, type: "?" }, ...this.nodes.get(id), about: "" })),
      })),
      edges,
      paths: new Map(Object.entries(paths)),
    });
    this.tell();
  }

  private draw(): void {
    const { nodes, edges, strong, paths } = this.content;
    this.leave();
    this.drawing = new Drawing(this.area, (tell) => settler(tell, FRAME_MILLISECONDS), {
      name: (type) => type.replaceAll("_", " "),
      pick: (id) => this.pick(id),
      hover: (id) => this.drawing?.mark(id ?? this.picked),
      color: colorNumber,
    });
    this.drawing.add(nodes, edges, new Set(strong));
    this.drawing.trace(new Map(Object.entries(paths)));
    for (const reply of [...this.grown.values()].flat()) this.drawing.add(reply.nodes, reply.edges, new Set(), reply.node, false);
    this.tell();
  }

  private frame(): HTMLElement {
    // A notebook is scrolled by the wheel: it zooms only after a click into the picture, until the pointer leaves it.
    this.area.addEventListener("wheel", (event) => this.scrolls && event.stopPropagation(), { capture: true });
    this.area.addEventListener("pointerdown", () => (this.scrolls = false), { capture: true });
    this.area.addEventListener("pointerleave", () => (this.scrolls = true));
    const tool = (name: string, sign: string, act: () => void) =>
      el("button", { "aria-label": name, title: name, onclick: act }, sign);
    return el(
      "div",
      { class: "frame" },
      el(
        "div",
        { class: "tools" },
        ...(this.content.columns.length
          ? [this.proof]
          : [
              tool("Closer", "+", () => this.drawing?.zoom(true)),
              tool("Farther", "−", () => this.drawing?.zoom(false)),
              tool("Show all", "Fit", () => this.drawing?.fit()),
            ]),
      ),
      this.area,
      this.card,
    );
  }

  private restyle(): void {
    const [red = 0, green = 0, blue = 0] = (getComputedStyle(this.host).color.match(/[\d.]+/g) ?? []).map(Number);
    this.root.dataset.theme = 0.3 * red + 0.6 * green + 0.1 * blue > HALF_BRIGHT ? "dark" : "light";
    this.drawing?.restyle();
  }

  /** Write the types that are in the picture, each to be hidden and shown again. */
  private tell(): void {
    const counts = new Map<string, number>();
    const shown = this.drawing ?? this.layers;
    const types = this.drawing?.graph.mapNodes((_, look) => look.kind) ?? this.layers?.nodes.map((node) => node.type) ?? [];
    for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
    const toggle = (type: string, isShown: boolean) => {
      shown?.hidden[isShown ? "delete" : "add"](type);
      this.drawing?.refresh();
      this.layers?.draw();
    };
    this.proof.hidden = !this.drawing;
    const isOfTypes = !this.layers && counts.size === types.length; // one node each: they say so themselves
    this.legend.replaceChildren(
      ...(isOfTypes ? [] : [...counts]).map(([type, count]) =>
        el(
          "li",
          {},
          el(
            "label",
            {},
            el("input", {
              type: "checkbox",
              checked: !shown?.hidden.has(type),
              onchange: (event) => toggle(type, (event.target as HTMLInputElement).checked),
            }),
            dot(type),
            `${type} `,
            el("span", { class: "dim" }, String(count)),
          ),
        ),
      ),
      ...(this.grown.size ? [el("li", { class: "told" }, "edges among added neighbours are not shown")] : []),
    );
  }

  // -------------------------------------------------------------------------------------------------------- one node

  private pick(id: string | null): void {
    this.picked = id;
    this.mark(id);
    const node = id === null ? undefined : this.nodes.get(id);
    this.card.hidden = node === undefined;
    if (node) this.card.replaceChildren(...this.about(node));
  }

  private about(node: AboutNode): HTMLElement[] {
    const all = [this.content, ...[...this.grown.values()].flat()].flatMap(({ edges }) => edges);
    const own = all.filter((edge) => edge.source === node.id || edge.target === node.id),
      told = new Map(own.map((edge) => [JSON.stringify(Object.values(edge)), edge]));
    const ways = [...told.values()].slice(0, EDGES_SHOWN).map(({ source, type, target }) => {
      const isOut = source === node.id,
        label = type.replaceAll("_", " ");
      return el("li", {}, el("span", { class: "dim" }, isOut ? `${label} → ` : `← ${label} `), this.link(isOut ? target : source));
    });
    return [
      el("h3", {}, node.name || node.id),
      el("p", {}, dot(node.type), ` ${node.type}`),
      ...(node.id === node.type ? [] : [el("p", {}, el("code", {}, node.id))]), // the node is itself a type
      ...node.about.map((text) => el("p", { class: "told" }, text)),
      el("ul", {}, ...ways),
      ...(this.content.grows ? [this.more(node.id)] : []),
    ];
  }

  private link(id: string): HTMLElement {
    return el("button", { class: "link", onclick: () => this.follow(id) }, this.nodes.get(id)?.name || id);
  }

  private follow(id: string): void {
    this.pick(id);
    (this.drawing ?? this.layers)?.focus(id);
  }

  /** Return the button that has the kernel tell the next neighbours of a node. */
  private more(node: string): HTMLElement {
    const replies = this.grown.get(node) ?? [],
      last = replies.at(-1),
      shown = last ? last.offset + last.nodes.length : 0;
    if (last && shown >= last.total) return el("p", { class: "dim" }, `all ${last.total} neighbours are shown`);
    const button = el(
      "button",
      {
        onclick: () => {
          button.disabled = true;
          this.model.send({ node, offset: shown });
        },
      },
      last ? `More neighbours (${shown} of ${last.total})` : "Show neighbours",
    );
    return button;
  }

  private grow(reply: Reply): void {
    if (reply.error !== null) {
      this.card.append(el("p", { class: "dim", role: "alert" }, reply.error));
      return;
    }
    this.grown.set(reply.node, [...(this.grown.get(reply.node) ?? []), reply]);
    for (const node of reply.nodes) if (!this.nodes.has(node.id)) this.nodes.set(node.id, node);
    if (this.layers && canDraw()) this.draw(); // nodes move freely from now on
    else this.drawing?.add(reply.nodes, reply.edges, new Set(), reply.node);
    this.tell();
    if (this.picked === reply.node) this.pick(reply.node);
    this.mark(this.picked, true);
  }

  /** Show the proof alone again. */
  private fold(): void {
    this.grown.clear();
    this.leave();
    this.drawInColumns();
    if (this.picked !== null) this.pick(this.picked);
  }

  // ------------------------------------------------------------------------------------------------------ the tables

  private table({ header, rows, nodes }: Content["tables"][number]): HTMLElement {
    const cells = (row: string[], id: string | undefined) =>
      row.map((text, place) => {
        const isName = header[place] === "name" && id !== undefined && this.nodes.has(id);
        return el("td", {}, isName ? el("button", { class: "link", onclick: () => this.follow(id) }, text) : text);
      });
    const head = el("tr", {}, ...header.map((name) => el("th", { scope: "col" }, name)));
    const body = rows.map((row, place) => el("tr", {}, ...cells(row, nodes[place])));
    return el("div", { class: "scrolled" }, el("table", {}, el("thead", {}, head), el("tbody", {}, ...body)));
  }
}

/** Show a model in an element of the notebook; what comes back ends it. */
function render({ model, el: host }: { model: Model; el: HTMLElement }): () => void {
  const shown = new Shown(model, host);
  return () => shown.end();
}

export default { render };

// In a chat there is no model: the host hands over the content once, and nothing grows.
const place = document.getElementById("orienteer-app");
if (place && window.parent !== window)
  hearHost<Content>(place, (content) =>
    render({ model: { get: () => content, send: () => {}, on: () => {}, off: () => {} }, el: place }),
  );

/** What a node is, beside the picture. */

import { get, post } from "./api";
import { byId, el } from "./dom";
import { dot } from "./palette";
import { place, type FileRows, type KindCount, type NeighborsPage, type NodePage } from "./records";
import { number, say } from "./texts";

const PAGE = 25; // neighbours that one click adds
const TEXT = 1200,
  PROPERTIES = 30,
  KINDS = 40;

export type Uses = {
  graph: () => string;
  edgeName: (type: string) => string;
  grow: (page: NeighborsPage, of: NodePage) => void;
  closed: () => void;
  pick: (id: string) => void;
  openDocument: (id: string) => void;
  askAbout: (name: string) => void;
};

const pairs = (values: [string, unknown][]) =>
  el(
    "dl",
    {},
    ...values.flatMap(([name, value]) => [
      el("dt", {}, name),
      el("dd", {}, typeof value === "string" ? value : JSON.stringify(value)),
    ]),
  );

export class Panel {
  private readonly box = byId("panel");
  private asked = 0;

  constructor(private readonly uses: Uses) {}

  get isOpen(): boolean {
    return !this.box.hidden;
  }

  close(): void {
    if (this.box.hidden) return;
    this.asked++;
    this.box.hidden = true;
    this.uses.closed();
  }

  /** Show a node in full, with its neighbours counted by kind. */
  async show(id: string): Promise<void> {
    await this.fill(async () => {
      const node = await get<NodePage>("api/node", { graph: this.uses.graph(), id });
      return [
        this.head(node.name || node.id, [dot(node.type), ` ${node.type} · `], node.id),
        ...this.facts(node),
        this.neighbours(node),
      ];
    });
  }

  // ------------------------------------------------------------------------------------------------------------ within

  private async fill(make: () => Promise<(Node | null)[]>): Promise<void> {
    const mine = ++this.asked;
    this.box.hidden = false;
    this.box.replaceChildren(this.closing(), el("p", { class: "dim" }, say("loading")));
    const parts = await make().catch((error: Error): (Node | null)[] => [el("p", { class: "refusal" }, error.message)]);
    if (mine === this.asked) this.box.replaceChildren(this.closing(), ...parts.filter((part) => part !== null));
  }

  private closing(): HTMLElement {
    return el(
      "button",
      { class: "quiet close", "aria-label": say("close"), title: `${say("close")} (Esc)`, onclick: () => this.close() },
      "✕",
    );
  }

  private head(name: string, about: (Node | string)[], id: string): HTMLElement {
    const { clipboard } = navigator; // browsers give it to https and this machine alone
    const copy = el(
      "button",
      {
        class: "link",
        onclick: () =>
          void clipboard.writeText(id).then(() => {
            copy.textContent = say("copied");
          }),
      },
      say("copyId"),
    );
    return el(
      "header",
      {},
      el("h2", {}, name),
      el("p", { class: "dim" }, ...about, el("code", {}, id)),
      el(
        "p",
        { class: "row dim" },
        el("button", { class: "link", onclick: () => this.uses.askAbout(name) }, say("askAbout")),
        clipboard ? copy : null,
      ),
    );
  }

  private facts(node: NodePage): (HTMLElement | null)[] {
    const properties = Object.entries(node.properties).slice(0, PROPERTIES);
    return [
      node.aliases.length ? el("p", { class: "dim" }, `${say("aliases")}: ${node.aliases.join(", ")}`) : null,
      node.text
        ? el("p", { class: "prose" }, node.text.length > TEXT ? `${node.text.slice(0, TEXT)}…` : node.text)
        : null,
      node.source?.file
        ? el(
            "p",
            { class: "from" },
            `${say("source")}: `,
            el(
              "button",
              { class: "link", title: say("open"), onclick: () => this.uses.openDocument(node.id) },
              place(node.source, { page: say("page"), rows: say("rows") }),
            ),
          )
        : null,
      properties.length ? pairs(properties) : null,
      node.source?.file ? null : this.rows(node.id),
    ];
  }

  /** Return a fold of the rows of the files that a node came from, which are read when it is opened. */
  private rows(id: string): HTMLElement {
    const summary = el("summary", {}, say("inFile"));
    const read = async () => {
      const { rows, notes } = await get<FileRows>("api/rows", { graph: this.uses.graph(), id });
      const told = rows.map((row) => [el("p", {}, `${row.file}:${row.line}`), pairs(Object.entries(row.cells))]);
      fold.replaceChildren(summary, ...told.flat(), ...notes);
    };
    const toggled = () => {
      if (fold.open) void read().catch((error: Error) => fold.replaceChildren(summary, error.message));
    };
    const fold: HTMLDetailsElement = el("details", { ontoggle: toggled }, summary);
    return fold;
  }

  private neighbours(node: NodePage): HTMLElement {
    const total = node.counts.reduce((sum, kind) => sum + kind.count, 0);
    return el(
      "section",
      {},
      el("h3", {}, say("neighbours", { n: total })),
      el(
        "ul",
        { class: "kinds" },
        ...node.counts.slice(0, KINDS).map((kind) => el("li", {}, this.kind(node, kind))),
      ),
      node.counts.length > KINDS ? el("p", { class: "dim" }, say("more", { n: node.counts.length - KINDS })) : null,
    );
  }

  /** Return the button of a kind of neighbours, which adds a page of them to the picture, and then the next. */
  private kind(node: NodePage, kind: KindCount): HTMLElement {
    let offset = 0;
    const count = el("span", { class: "count" }, ` ${number(kind.count)}`);
    const name = `${this.uses.edgeName(kind.edge_type)} `;
    const button: HTMLButtonElement = el(
      "button",
      {
        class: "chip",
        onclick: () => {
          void more().catch((error: Error) => {
            count.textContent = ` ${error.message}`;
          });
        },
      },
      el("span", { class: "edge" }, kind.direction === "out" ? `${name}→ ` : `← ${name}`),
      dot(kind.node_type),
      kind.node_type,
      count,
    );
    const more = async () => {
      button.disabled = true;
      const page = await post<NeighborsPage>("api/neighbors", {
        graph: this.uses.graph(),
        node: node.id,
        edge_types: [kind.edge_type],
        node_types: [kind.node_type],
        direction: kind.direction,
        k: PAGE,
        offset,
      });
      offset += page.hits.length;
      count.textContent = ` ${say("shownOf", { n: offset, all: kind.count })}`;
      button.disabled = offset >= page.total;
      this.uses.grow(page, node);
    };
    return button;
  }
}

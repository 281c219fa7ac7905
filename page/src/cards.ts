/** The hits as cards: what meets all of the question above a line, what is nearby below it. */

import { isPassage } from "./document";
import { byId, el, marked } from "./dom";
import { dot } from "./palette";
import { place, said, type Edge, type Hit } from "./records";
import { number, say } from "./texts";

const EDGES_SHOWN = 4,
  EDGES_OPENED = 40,
  SNIPPET = 420,
  NEAREST = 3;

/** What the rest of the page does when a card is used. */
export type Uses = {
  pick: (id: string) => void;
  openPlace: (hit: Hit) => void;
  mark: (id: string | null) => void;
  edgeName: (type: string) => string;
  thumbs: (nodes: string[]) => HTMLElement | null;
};

export class Cards {
  private hits: Hit[] = [];
  private readonly names = new Map<string, { name: string; type: string }>();
  private readonly list = byId("hits");

  constructor(private readonly uses: Uses) {}

  /** Show grey cards, which the hits replace without anything else moving. */
  wait(): void {
    this.hits = [];
    this.list.replaceChildren(...[0, 1, 2].map(() => el("li", { class: "skeleton", "aria-hidden": "true" })));
  }

  clear(): void {
    this.hits = [];
    this.list.replaceChildren();
  }

  stopWaiting(): void {
    this.list.querySelectorAll(".skeleton").forEach((card) => card.remove());
  }

  get all(): readonly Hit[] {
    return this.hits;
  }

  /** Add the next hit, best first. */
  add(hit: Hit): void {
    if (!this.hits.length) this.list.replaceChildren();
    this.hits.push(hit);
    for (const node of [hit, ...(hit.ends ?? [])]) this.names.set(node.id, node);
    this.list.append(this.card(hit, this.hits.length));
  }

  /** Draw the line between what meets all of the question and what meets some of it. */
  divide(nothingMeets: boolean): void {
    this.list.querySelector(".divide")?.remove();
    const first = this.hits.findIndex((hit) => !hit.complete);
    if (first < 0) return;
    const text = nothingMeets ? `${say("nothingMeets")} ${say("nearby")}` : say("nearby");
    this.list.insertBefore(el("li", { class: "divide" }, text), this.list.children[first] ?? null);
  }

  /** Leave a few cards, under a fold, where none is an answer. */
  fold(): void {
    this.hits = this.hits.slice(0, NEAREST);
    const cards = [...this.list.children].slice(0, NEAREST);
    this.under(say("nearest", { n: cards.length }), cards);
  }

  /** Leave them under a fold where `total` nodes are counted, and their numbers are the answer. */
  count(total: number): void {
    const cards = [...this.list.children];
    for (const why of this.list.querySelectorAll("p.why")) why.remove(); // words of a ranking: all are counted
    const listed = cards.length < total ? `: ${say("firstListed", { n: cards.length })}` : "";
    this.under(say("counted", { n: total }) + listed, cards);
  }

  /** Bring the card of a node into sight. */
  show(id: string): void {
    const card = this.element(id);
    card?.scrollIntoView({
      block: "center",
      behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth",
    });
    card?.querySelector<HTMLElement>("button")?.focus({ preventScroll: true });
  }

  placeOf(id: string): number {
    return this.hits.findIndex((hit) => hit.id === id) + 1;
  }

  /** Show which node is looked at, and which the pointer is over in the picture. */
  current(id: string | null, kind: "aria-current" | "data-hover"): void {
    this.list.querySelectorAll(`[${kind}]`).forEach((card) => card.removeAttribute(kind));
    if (id !== null) this.element(id)?.setAttribute(kind, "true");
  }

  // ------------------------------------------------------------------------------------------------------------ within

  private under(summary: string, cards: Element[]): void {
    const inside = el("ol", {}, ...cards);
    this.list.replaceChildren(el("li", {}, el("details", {}, el("summary", {}, summary), inside)));
  }

  private element(id: string): HTMLElement | null {
    return this.list.querySelector(`[data-id="${CSS.escape(id)}"]`);
  }

  private card(hit: Hit, rank: number): HTMLElement {
    const { pick, mark, openPlace, thumbs } = this.uses;
    const votes = hit.votes !== null && hit.votes > 1 ? say("votes", { n: hit.votes }) : "";
    const isText = isPassage(hit);
    return el(
      "li",
      {
        class: "card",
        "data-id": hit.id,
        onmouseenter: () => mark(hit.id),
        onmouseleave: () => mark(null),
        onfocusin: () => mark(hit.id),
        onfocusout: () => mark(null),
      },
      el(
        "h3",
        {},
        el("span", { class: "rank" }, number(rank)),
        dot(hit.type),
        el("button", { class: "name", onclick: () => (isText ? openPlace(hit) : pick(hit.id)) }, hit.name || hit.id),
        el("span", { class: "kind" }, [hit.type, votes].filter(Boolean).join(" · ")),
        thumbs([hit.id]),
      ),
      this.why(hit),
      hit.text && isText
        ? el("blockquote", {}, ...marked(hit.text, hit.marks))
        : hit.text
          ? el("p", { class: "snippet" }, hit.text.length > SNIPPET ? `${hit.text.slice(0, SNIPPET)}…` : hit.text)
          : null,
      hit.source?.file
        ? el(
            "p",
            { class: "from" },
            el(
              "button",
              { class: "link", title: say("open"), onclick: () => openPlace(hit) },
              place(hit.source, { page: say("page"), rows: say("rows") }),
            ),
          )
        : null,
      hit.alike.length ? el("p", { class: "dim" }, say("alike", { n: hit.alike.length })) : null,
    );
  }

  /** Return the reason for a hit: the way that leads to it, name by name, else in words. */
  private why(hit: Hit, most = EDGES_SHOWN): HTMLElement {
    const { edges, meets = [] } = hit;
    const isKnown =
      edges.length + meets.length > 0 && hit.edges.every((edge) => this.names.has(edge.source) && this.names.has(edge.target));
    if (!isKnown) return el("p", { class: "why" }, hit.why || null);
    const more = Math.min(hit.edges.length, EDGES_OPENED) - most;
    const made = el(
      "ul",
      { class: "why path" },
      ...hit.edges.slice(0, most).map((edge) => el("li", {}, ...this.way(edge, hit))),
      ...meets.map((met) => el("li", {}, said(met, this.uses.edgeName))),
      more > 0
        ? el(
            "li",
            {},
            el(
              "button",
              { class: "link", onclick: () => made.replaceWith(this.why(hit, EDGES_OPENED)) },
              say("more", { n: more }),
            ),
          )
        : null,
    );
    return made;
  }

  /** Return an edge of the way to a hit; each end tells in its title what it stands for in the question. */
  private way(edge: Edge, hit: Hit): Node[] {
    const end = (id: string) => {
      const role = hit.ends?.find((end) => end.id === id)?.role;
      return el(
        "button",
        {
          class: role === "named" ? "link named" : "link",
          title: role === "named" ? say("named") : role || null,
          onclick: () => this.uses.pick(id),
        },
        this.names.get(id)?.name || id,
      );
    };
    return [end(edge.source), el("span", { class: "edge" }, ` ${this.uses.edgeName(edge.type)} → `), end(edge.target)];
  }
}

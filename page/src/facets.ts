/** Facets: the hits by type and by the values of their properties. Choosing one asks again, over the whole graph. */

import { byId, el } from "./dom";
import { dot } from "./palette";
import type { Facets } from "./records";
import { number, say } from "./texts";

const PROPERTIES = 8,
  VALUES = 8,
  LONGEST = 60;

/** What narrows a question down: types, and conditions such as `year=1970`. */
export type Filters = { node_types: string[]; where: string[] };

export class FacetList {
  private readonly box = byId<HTMLDetailsElement>("facets");
  private readonly chips = byId("filters");

  constructor(private readonly change: (filters: Filters) => void) {}

  clear(): void {
    this.box.hidden = true;
  }

  /** Show the filters that hold, each with a button that takes it away. */
  showFilters(filters: Filters): void {
    const chip = (text: string, without: Filters) =>
      el(
        "li",
        {},
        el(
          "button",
          { class: "chip", "aria-label": say("removeFilter", { text }), onclick: () => this.change(without) },
          `${text} ✕`,
        ),
      );
    this.chips.replaceChildren(
      ...filters.node_types.map((type) =>
        chip(type, { ...filters, node_types: filters.node_types.filter((other) => other !== type) }),
      ),
      ...filters.where.map((condition) =>
        chip(condition, { ...filters, where: filters.where.filter((other) => other !== condition) }),
      ),
    );
    this.chips.hidden = !this.chips.childElementCount;
  }

  /** Show how many of the hits have what. */
  show(facets: Facets, filters: Filters): void {
    const groups: HTMLElement[] = [];
    if (facets.types.length > 1)
      groups.push(
        this.group(
          say("types"),
          facets.types.map(({ value, count }) =>
            this.choice(String(value), count, { ...filters, node_types: [String(value)] }, dot(String(value))),
          ),
        ),
      );
    const telling = facets.properties.filter(
      (facet) =>
        facet.distinct > 1 &&
        facet.groups.some((group) => group.count > 1 || facet.distinct <= VALUES) &&
        facet.groups.some((group) => isPlain(group.value)),
    );
    for (const facet of telling.slice(0, PROPERTIES)) {
      const shown = facet.groups.filter((group) => isPlain(group.value)).slice(0, VALUES);
      const rest = facet.distinct - shown.length;
      groups.push(
        this.group(facet.name, [
          ...shown.map(({ value, count }) =>
            this.choice(String(value), count, {
              ...filters,
              where: [
                ...filters.where.filter((other) => !other.startsWith(`${facet.name}=`)),
                `${facet.name}=${value}`,
              ],
            }),
          ),
          rest > 0 ? el("li", { class: "dim" }, say("otherValues", { n: rest })) : null,
          facet.missing ? el("li", { class: "dim" }, say("without", { n: facet.missing })) : null,
        ]),
      );
    }
    this.box.replaceChildren(el("summary", {}, say("narrow")), ...groups);
    this.box.hidden = !groups.length;
  }

  private group(name: string, choices: (Node | null)[]): HTMLElement {
    return el("div", { class: "facet" }, el("h2", {}, name), el("ul", {}, ...choices));
  }

  private choice(text: string, count: number, filters: Filters, before: Node | null = null): HTMLElement {
    return el(
      "li",
      {},
      el(
        "button",
        { class: "chip", onclick: () => this.change(filters) },
        before,
        text,
        el("span", { class: "count" }, ` ${number(count)}`),
      ),
    );
  }
}

/** Whether a value can be named in a condition on one line. */
const isPlain = (value: unknown): boolean =>
  ["string", "number", "boolean"].includes(typeof value) &&
  String(value).length <= LONGEST &&
  !/\n/.test(String(value));

/** Facets: all that meets a question, by type, property and neighbour. Choosing one asks again, over the whole graph. */

import { histogram } from "./charts";
import { byId, el } from "./dom";
import { dot } from "./palette";
import type { Facet, Facets } from "./records";
import { number, say } from "./texts";

const PROPERTIES = 8,
  VALUES = 8,
  LONGEST = 60;

/** What narrows a question down: types, and conditions such as `year=1970`. */
export type Filters = { node_types: string[]; where: string[] };

export class FacetList {
  private readonly box = byId<HTMLDetailsElement>("facets");
  private readonly chips = byId("filters");

  constructor(
    private readonly change: (filters: Filters) => void,
    private readonly askReading: (reading: string) => void,
  ) {}

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

  /** Show how many of all that meets the question have what. */
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
    const telling = [...facets.properties, ...facets.edges].filter(isTelling);
    for (const facet of telling.slice(0, PROPERTIES)) {
      const shown = facet.groups.filter((group) => isPlain(group.value)).slice(0, VALUES);
      const rest = facet.distinct - shown.length;
      const without = facet.missing ? say("without", { n: facet.missing }) : "";
      if (isBinned(facet)) {
        const within = ({ low, high }: { low: unknown; high: unknown }) =>
          this.change(with_(filters, facet.name, [`${facet.name}>=${low}`, `${facet.name}<${high}`]));
        const chart = histogram(facet.name, facet.bins, facet.kind === "date", within);
        groups.push(this.group(facet.name, [el("li", {}, chart, without && el("p", { class: "dim" }, without))]));
        continue;
      }
      groups.push(
        this.group(facet.name, [
          ...shown.map(({ value, count, reading }) =>
            this.choice(String(value), count, with_(filters, facet.name, [`${facet.name}=${value}`]), null, reading),
          ),
          rest > 0 ? el("li", { class: "dim" }, say("otherValues", { n: rest })) : null,
          without ? el("li", { class: "dim" }, without) : null,
        ]),
      );
    }
    this.box.replaceChildren(el("summary", {}, say("narrow")), ...groups);
    this.box.hidden = !groups.length;
  }

  private group(name: string, choices: (Node | null)[]): HTMLElement {
    return el("div", { class: "facet" }, el("h2", {}, name), el("ul", {}, ...choices));
  }

  private choice(
    text: string,
    count: number,
    filters: Filters,
    before: Node | null = null,
    reading: string | null = null,
  ): HTMLElement {
    return el(
      "li",
      {},
      el(
        "button",
        { class: "chip", onclick: () => (reading === null ? this.change(filters) : this.askReading(reading)) },
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

/** Whether a facet tells nodes apart: several values, and not one for each node. */
const isTelling = ({ kind, distinct, groups, bins }: Facet): boolean =>
  distinct > 1 &&
  (bins.length > 1 ||
    (groups.some((group) => group.count > 1 || distinct <= VALUES) &&
      groups.some((group) => isPlain(group.value) && (kind !== "edge" || group.reading !== null))));

/** Whether numbers or dates are too many to be named one by one. */
const isBinned = ({ distinct, bins }: Facet): boolean => distinct > VALUES && bins.length > 1;

/** Return filters with other conditions on a property. */
function with_(filters: Filters, name: string, conditions: string[]): Filters {
  const isOfIt = (condition: string) => [`${name}=`, `${name}<`, `${name}>`].some((begin) => condition.startsWith(begin));
  return { ...filters, where: [...filters.where.filter((condition) => !isOfIt(condition)), ...conditions] };
}

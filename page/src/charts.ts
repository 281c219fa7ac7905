/** Numbers as pictures: a bar for each group, a histogram, a line over time. Each value is a text, too. */

import { el } from "./dom";
import { language, number, say } from "./texts";

const FIRST = 12,
  MORE = 100;
const SVG = "http://www.w3.org/2000/svg";
const short = new Intl.NumberFormat(language, { notation: "compact" });

export type Bar = { label: string; value: number; ask: (() => void) | null };
export type Bin = { low: number | string; high: number | string; count: number };

/** Return a table with a bar for each group: the first, and a button that adds others. */
export function bars(groups: readonly Bar[], columns: readonly [string, string]): HTMLElement {
  const most = Math.max(...groups.slice(0, FIRST).map(({ value }) => Math.abs(value)), Number.MIN_VALUE);
  const body = el("tbody"),
    more = el("button", { class: "link", type: "button", onclick: () => add(MORE) });
  const add = (count: number) => {
    const from = body.childElementCount;
    body.append(
      ...groups.slice(from, from + count).map(({ label, value, ask }) => {
        const bar = el("span", { class: "bar", "aria-hidden": "true" });
        bar.style.setProperty("--share", String(Math.min(1, Math.abs(value) / most)));
        const name = ask ? el("button", { class: "link", type: "button", onclick: ask }, label) : label;
        return el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, bar, number(value)));
      }),
    );
    const rest = groups.length - body.childElementCount;
    more.textContent = say("more", { n: rest });
    more.hidden = !rest;
  };
  add(FIRST);
  const head = el("tr", {}, ...columns.map((name) => el("th", { scope: "col" }, name)));
  return el("div", { class: "bars" }, el("table", {}, el("thead", { class: "sr" }, head), body), more);
}

/** Return a bar for each bin of numbers, or a line over those of dates; a click asks for what is in a bin. */
export function histogram(name: string, bins: readonly Bin[], isLine: boolean, ask: (bin: Bin) => void): HTMLElement {
  const most = Math.max(...bins.map((bin) => bin.count), 1);
  const columns = bins.map((bin) => {
    const bar = el("span", { class: "bar", "aria-hidden": "true" }),
      text = `${end(bin.low)} – ${end(bin.high)}: ${number(bin.count)}`;
    bar.style.setProperty("--share", String(bin.count / most));
    const count = el("span", { "aria-hidden": "true" }, bin.count ? short.format(bin.count) : "");
    const about = { type: "button", title: text, "aria-label": text, disabled: !bin.count };
    return el("li", {}, el("button", { ...about, onclick: () => ask(bin) }, count, bar));
  });
  const list = el("ol", { class: isLine ? "histogram line" : "histogram", "aria-label": name }, ...columns);
  const ends = [bins[0]!.low, bins[bins.length - 1]!.high].map((one) => el("span", {}, end(one)));
  return el("div", { class: "chart" }, list, isLine ? line(bins, most) : null, el("p", { class: "dim axis" }, ...ends));
}

function line(bins: readonly Bin[], most: number): HTMLElement {
  const picture = document.createElementNS(SVG, "svg"),
    path = document.createElementNS(SVG, "polyline");
  picture.setAttribute("viewBox", `0 0 ${bins.length} 1`);
  picture.setAttribute("preserveAspectRatio", "none");
  path.setAttribute("points", bins.map((bin, at) => `${at + 0.5},${1 - bin.count / most}`).join(" "));
  picture.append(path);
  return el("span", { class: "over", "aria-hidden": "true" }, picture as unknown as HTMLElement);
}

/** Return an end of a bin: a year alone where a date is the first day of one. */
const end = (value: number | string): string =>
  typeof value === "string" ? value.replace(/-01-01$/, "") : figure(value);

/** Return a number as the language writes it, a whole one that may be a year without separators. */
export const figure = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 10_000 ? String(value) : number(value);

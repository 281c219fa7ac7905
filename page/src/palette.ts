/** Colours: of types, frequent ones first, all that are shown at once told apart; of all else as the theme says. */

import { el } from "./dom";

/** Told apart by most eyes, on light and on dark, where each has a contrast of 3 at least. */
export const COLORS = [
  "#3b82d6",
  "#c97c00",
  "#0f9d76",
  "#c65ba6",
  "#d9472b",
  "#2a96b8",
  "#9b8a00",
  "#8a75e0",
  "#a8703c",
  "#7f8c8d",
  "#e0457b",
  "#4f9a2f",
];

const numbers = new Map<string, number>();
let frequent: readonly string[] = [];

/** Return the number of a type's colour: that of its rank, or one that nothing shown has. */
export function colorNumber(type: string): number {
  const known = numbers.get(type);
  if (known !== undefined) return known;
  const taken = new Set(numbers.values()),
    rank = frequent.indexOf(type);
  const free = (color: number) => color >= 0 && !taken.has(color);
  const spare = [...COLORS.keys()].reverse().find(free) ?? numbers.size % COLORS.length;
  const own = rank < COLORS.length && free(rank) ? rank : spare;
  numbers.set(type, own);
  return own;
}

/** Begin the order anew, for other things to be shown. */
export const forgetColors = (): void => numbers.clear();

/** Begin it anew for a graph with so many nodes of each type. */
export function rankColors(types: Readonly<Record<string, number>>): void {
  forgetColors();
  frequent = Object.keys(types).sort((a, b) => (types[b] ?? 0) - (types[a] ?? 0));
}

/** Return the dot that stands before a name of a type. */
export const dot = (type: string): HTMLElement =>
  el("span", { class: `dot c${colorNumber(type)}`, "aria-hidden": "true" });

/** Return a colour of the style sheet, as it is within an element: `--line` -> `rgb(...)`. */
export function themed(name: string, within: HTMLElement): string {
  const probe = el("span");
  probe.style.color = `var(${name})`;
  within.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

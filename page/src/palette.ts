/** Colours: of types by the order in which they appear, of all else as the theme says. */

import { el } from "./dom";

/** Told apart by most eyes, colour-blind ones too, on light and on dark. */
export const COLORS = [
  "#3b82d6",
  "#e08a00",
  "#0f9d76",
  "#c65ba6",
  "#d9542b",
  "#35a7c9",
  "#9b8a00",
  "#8a75e0",
  "#a8703c",
  "#7f8c8d",
];

const numbers = new Map<string, number>();

/** Return the number of a type's colour. */
export function colorNumber(type: string): number {
  if (!numbers.has(type)) numbers.set(type, numbers.size % COLORS.length);
  return numbers.get(type) ?? 0;
}

/** Begin the order anew, for another graph. */
export const forgetColors = (): void => numbers.clear();

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

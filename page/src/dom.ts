/** Elements out of texts. A text is always a text node: nothing of a graph or a document can become markup. */

type Child = Node | string | null | undefined | false;
type Value = string | number | boolean | null | undefined | ((event: Event) => void);

/** Control characters, and those that turn the direction of a text: names are other people's. */
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Return a text without what would disguise it. */
export const plain = (text: string): string => text.replace(STEERING, "");

/** Return an element with attributes, listeners (`onclick`) and children. */
export function el<K extends keyof HTMLElementTagNameMap>(
  name: K,
  values: Record<string, Value> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(values)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : typeof value === "string" ? plain(value) : String(value));
  }
  for (const child of children) if (child) made.append(typeof child === "string" ? plain(child) : child);
  return made;
}

export const SVG = "http://www.w3.org/2000/svg";

/** Return an element of a picture. */
export function shape(name: string, values: Record<string, string | number> = {}, text = ""): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(values))
    made.setAttribute(key, typeof value === "number" ? String(Math.round(value * 10) / 10) : plain(value));
  made.textContent = plain(text);
  return made;
}

/** Return a picture of one stroke, 24 x 24, in the colour of the text around it. */
export function icon(path: string, isTurned = false): SVGElement {
  const made = document.createElementNS(SVG, "svg"),
    stroke = document.createElementNS(SVG, "path");
  for (const [name, value] of Object.entries({
    viewBox: "0 0 24 24",
    "aria-hidden": "true",
    class: isTurned ? "icon turned" : "icon",
  }))
    made.setAttribute(name, value);
  stroke.setAttribute("d", path);
  made.append(stroke);
  return made;
}

/** Whether this browser can draw nodes that move freely. */
export const canDraw = (): boolean => document.createElement("canvas").getContext("webgl2") !== null;

/** Return the element of the page that has an id. */
export const byId = <T extends HTMLElement = HTMLElement>(id: string): T => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return found as T;
};

/** A text whose places are counted as Python counts them: in characters, not in UTF-16 units. */
export class Characters {
  private readonly all: string[];

  constructor(text: string) {
    this.all = Array.from(text);
  }

  get length(): number {
    return this.all.length;
  }

  part(begin: number, end = this.all.length): string {
    return this.all.slice(begin, end).join("");
  }
}

/** Return where words stand in a text, as pairs of places in characters. */
export function placesOf(words: readonly string[], text: string): [number, number][] {
  if (!words.length) return [];
  const any = [...new Set(words)]
    .sort((a, b) => b.length - a.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("|");
  return Array.from(text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}])(?:${any})(?![\\p{L}\\p{N}])`, "giu")), (found) => {
    const begin = Array.from(text.slice(0, found.index)).length;
    return [begin, begin + Array.from(found[0]).length];
  });
}

/** Return a text with marked parts; marks are pairs of places in characters, ascending. */
export function marked(text: string, marks: readonly (readonly [number, number])[]): Node[] {
  const characters = new Characters(text),
    parts: Node[] = [];
  let at = 0;
  for (const [begin, end] of marks) {
    if (begin < at || end > characters.length) continue;
    parts.push(document.createTextNode(plain(characters.part(at, begin))), el("mark", {}, characters.part(begin, end)));
    at = end;
  }
  parts.push(document.createTextNode(plain(characters.part(at))));
  return parts;
}

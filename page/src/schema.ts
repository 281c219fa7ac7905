/** The schema as a picture: node types sized by their number, and the edges between them in words with counts. */

import { el, plain } from "./dom";
import { COLORS, colorNumber } from "./palette";
import type { Overview, SchemaEdge, SchemaView } from "./records";
import { number, say } from "./texts";

const MOST_TYPES = 12,
  NARROW = 560, // pixels: two columns in place of an ellipse
  GAP = 4,
  LINE = 19,
  SMALL = 12.5;
/** Where a label may stand on its edge, the best place first. */
const PLACES = [0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.2, 0.8];

type Point = { x: number; y: number };
type Box = Point & { w: number; h: number };
type Named = { type: string; words: string; count: number };
export type Asks = (question: string, reading: string) => void;

/** Show a schema in an element, anew when its size changes; a click on a type or an edge asks about it. */
export function showSchema(into: HTMLElement, schema: SchemaView, about: Overview, asks: Asks | null): void {
  const rest = el("details", { class: "dim" }),
    canvas = el("div", { class: "drawn" });
  into.replaceChildren(canvas, rest);
  into.hidden = false;
  let size = "";
  const watch = new ResizeObserver(() => {
    const { clientWidth: w, clientHeight: h } = canvas;
    if (!canvas.isConnected) watch.disconnect();
    if (!canvas.isConnected || w < 50 || size === `${w} ${h}`) return;
    size = `${w} ${h}`;
    const rows = Math.min(Object.keys(schema.node_types).length, MOST_TYPES) / 2 + 1;
    draw(canvas, rest, { w, h: Math.max(h, 260, w < NARROW ? rows * 95 : 0) }, schema, about, asks);
  });
  watch.observe(canvas);
}

function draw(
  canvas: HTMLElement,
  rest: HTMLDetailsElement,
  size: { w: number; h: number },
  schema: SchemaView,
  about: Overview,
  asks: Asks | null,
): void {
  const label = (type: string) => schema.labels[type] ?? type;
  const types: Named[] = Object.entries(schema.node_types)
    .sort((a, b) => b[1] - a[1])
    .map(([type, count]) => ({ type, count, words: about.nouns[type] ?? label(type) }));
  const shown = types.slice(0, MOST_TYPES),
    top = Math.log(1 + (shown[0]?.count ?? 1));
  const places = new Map(shown.map(({ type }, place) => [type, place]));
  const fonts = shown.map(({ count }) => 12 + (4.5 * Math.log(1 + count)) / top);
  const sizes = shown.map(({ words }, at) => ({
    w: width(words, fonts[at] ?? SMALL, true) + 26,
    h: (fonts[at] ?? SMALL) * 2.9,
  }));
  const between = schema.edges
    .map((edge, at) => ({ edge, from: places.get(edge.source), to: places.get(edge.target), asked: about.asks[at] ?? "" }))
    .sort((a, b) => b.edge.count - a.edge.count);
  const pairs = new Set<string>();
  for (const { from, to } of between)
    if (from !== undefined && to !== undefined && from !== to)
      pairs.add(`${Math.min(from, to)} ${Math.max(from, to)}`);
  const joined = [...pairs].map((pair) => pair.split(" ").map(Number) as [number, number]);
  const pills = apart(
    arranged(sizes, joined, size).map((point, at) => ({ ...point, ...(sizes[at] ?? { w: 0, h: 0 }) })),
    size,
  );
  const taken = [...pills];
  const svg = shape("svg", {
    viewBox: `0 0 ${size.w} ${size.h}`,
    width: size.w,
    height: size.h,
    role: "group",
    "aria-label": say("schema"),
  });
  const act = (question: string, reading: string) => (asks ? () => asks(question, reading) : null);
  const lines = shape("g", { class: "lines" }),
    labels: SVGElement[] = [],
    unnamed: HTMLElement[] = [];
  for (const [a, b] of joined) lines.append(shape("line", ends(pills[a], pills[b])));
  for (const { edge, from, to, asked } of between) {
    const words = label(edge.type).replaceAll("_", " "),
      ask = act(asked, lineOf(edge, label, schema.symmetric.includes(edge.type)));
    const text = `${words} ${number(edge.count)}`,
      spot = from === undefined || to === undefined ? null : spotOf(text, from, to, pills, taken, size, lines);
    const whole = `${label(edge.source)} ${words} ${label(edge.target)}: ${number(edge.count)}`;
    if (spot) {
      taken.push(spot);
      labels.push(clickable(ask, whole, "edge", written(`${spot.before}${text}${spot.after}`, spot, SMALL)));
    } else unnamed.push(item(whole, ask));
  }
  const named = shown.map((one, at) => {
    const pill = pills[at] ?? { x: 0, y: 0, w: 0, h: 0 },
      font = fonts[at] ?? SMALL;
    const back = shape("rect", {
      x: pill.x - pill.w / 2,
      y: pill.y - pill.h / 2,
      width: pill.w,
      height: pill.h,
      rx: pill.h / 2,
      stroke: COLORS[colorNumber(one.type)] ?? "",
    });
    const count = written(number(one.count), { x: pill.x, y: pill.y + font * 0.72 }, SMALL);
    count.setAttribute("class", "dim");
    const ask = act(say("allOf", { what: one.words }), label(one.type)),
      name = written(one.words, { x: pill.x, y: pill.y - font * 0.55 }, font);
    return clickable(ask, `${number(one.count)} ${one.words}`, "type", back, name, count);
  });
  svg.append(lines, ...named, ...labels);
  canvas.replaceChildren(svg);
  const more = types.slice(MOST_TYPES),
    heading = [
      more.length ? say("moreTypes", { n: more.length }) : "",
      unnamed.length ? say("moreEdges", { n: unnamed.length }) : "",
    ];
  const listed = more.map((one) =>
    item(`${number(one.count)} ${one.words}`, act(say("allOf", { what: one.words }), label(one.type))),
  );
  rest.hidden = !more.length && !unnamed.length;
  rest.replaceChildren(
    el("summary", {}, heading.filter(Boolean).join(" · ")),
    el("ul", {}, ...listed, ...unnamed),
  );
}

/** Return the question about edges as a line: how many sources each target has. */
function lineOf(edge: SchemaEdge, label: (type: string) => string, isSymmetric: boolean): string {
  const arrow = isSymmetric ? `<-${label(edge.type)}->` : `-${label(edge.type)}->`;
  return `count ${label(edge.source)} per ${arrow} ${label(edge.target)}`;
}

const item = (text: string, ask: (() => void) | null): HTMLElement =>
  el("li", {}, ask ? el("button", { class: "link", onclick: ask }, text) : text);

// ------------------------------------------------------------------------------------------------------------ places

/** Return where types stand: the one with the most partners in the middle of an ellipse of the others. */
function arranged(
  sizes: { w: number; h: number }[],
  joined: [number, number][],
  { w, h }: { w: number; h: number },
): Point[] {
  const count = sizes.length,
    partners = sizes.map((_, at) => joined.filter((pair) => pair.includes(at)).length);
  const hub = count > 4 ? partners.indexOf(Math.max(...partners)) : -1,
    around = sizes.map((_, at) => at).filter((at) => at !== hub);
  const widest = Math.max(...sizes.map((size) => size.w)),
    rx = Math.max(w / 2 - widest / 2 - 8, 20),
    ry = h / 2 - 30;
  const rows = Math.ceil(around.length / 2),
    between = (h - 80) / Math.max(rows - (hub < 0 ? 1 : 0), 1);
  const slots = around.map((_, at) => {
    const row = Math.floor(at / 2);
    if (w < NARROW)
      return { x: w * (at % 2 ? 0.74 : 0.26), y: 40 + between * (row + (hub >= 0 && row >= rows / 2 ? 1 : 0)) };
    const turn = (2 * Math.PI * (at + (around.length % 2 ? 0 : 0.5))) / around.length - Math.PI / 2;
    return { x: w / 2 + rx * Math.cos(turn), y: h / 2 + ry * Math.sin(turn) };
  });
  const places = (order: number[]): Point[] => {
    const made: Point[] = [];
    if (hub >= 0) made[hub] = { x: w / 2, y: h / 2 };
    order.forEach((type, at) => (made[type] = slots[at] ?? { x: w / 2, y: h / 2 }));
    return made;
  };
  let order = around,
    best = cost(places(order), joined);
  for (let isBetter = true; isBetter; ) {
    isBetter = false;
    for (let a = 0; a < order.length; a++)
      for (let b = a + 1; b < order.length; b++) {
        const other = [...order];
        [other[a], other[b]] = [other[b] ?? 0, other[a] ?? 0];
        const now = cost(places(other), joined);
        if (now < best - 1) [order, best, isBetter] = [other, now, true];
      }
  }
  return places(order);
}

/** Push types apart that would lie on one another. */
function apart(pills: Box[], { w, h }: { w: number; h: number }): Box[] {
  for (let round = 0; round < 40; round++)
    pills.forEach((one, at) => {
      one.x = Math.min(w - one.w / 2 - 4, Math.max(one.w / 2 + 4, one.x));
      for (const other of pills.slice(at + 1)) {
        const across = (one.w + other.w) / 2 + 14 - Math.abs(one.x - other.x),
          down = (one.h + other.h) / 2 + 10 - Math.abs(one.y - other.y);
        if (across <= 0 || down <= 0) continue;
        const isAcross = across < down && w > 2 * Math.max(one.w, other.w),
          by = (isAcross ? across : down) / 2;
        const sign = isAcross ? (one.x < other.x ? 1 : -1) : one.y < other.y ? 1 : -1;
        for (const [pill, way] of [
          [one, -sign],
          [other, sign],
        ] as const) {
          if (isAcross) pill.x = Math.min(w - pill.w / 2 - 4, Math.max(pill.w / 2 + 4, pill.x + way * by));
          else pill.y = Math.min(h - pill.h / 2 - 4, Math.max(pill.h / 2 + 4, pill.y + way * by));
        }
      }
    });
  return pills;
}

/** Return how badly types stand: long edges, edges that cross, edges that pass over a type. */
function cost(points: Point[], joined: [number, number][]): number {
  let sum = 0;
  joined.forEach(([a, b], at) => {
    const [p, q] = [points[a], points[b]];
    if (!p || !q) return;
    sum += Math.hypot(p.x - q.x, p.y - q.y);
    points.forEach((r, other) => {
      if (other !== a && other !== b && distance(r, p, q) < 36) sum += 700;
    });
    for (const [c, d] of joined.slice(at + 1)) {
      const [r, s] = [points[c], points[d]];
      if (r && s && ![a, b].includes(c) && ![a, b].includes(d) && side(p, q, r) !== side(p, q, s) && side(r, s, p) !== side(r, s, q))
        sum += 400;
    }
  });
  return sum;
}

const side = (p: Point, q: Point, r: Point): boolean => (q.x - p.x) * (r.y - p.y) > (q.y - p.y) * (r.x - p.x);

function distance(r: Point, p: Point, q: Point): number {
  const length = (q.x - p.x) ** 2 + (q.y - p.y) ** 2 || 1,
    at = Math.min(1, Math.max(0, ((r.x - p.x) * (q.x - p.x) + (r.y - p.y) * (q.y - p.y)) / length));
  return Math.hypot(r.x - p.x - at * (q.x - p.x), r.y - p.y - at * (q.y - p.y));
}

/** Return where the label of an edge stands, touching no other; null where there is no room. */
function spotOf(
  text: string,
  from: number,
  to: number,
  pills: Box[],
  taken: Box[],
  size: { w: number; h: number },
  lines: SVGElement,
): (Box & { before: string; after: string }) | null {
  const [p, q] = [pills[from], pills[to]];
  if (!p || !q) return null;
  const box = { w: width(`${text} →`, SMALL) + 8, h: LINE };
  const fits = (spot: Point): boolean =>
    spot.x - box.w / 2 > 2 &&
    spot.x + box.w / 2 < size.w - 2 &&
    spot.y - LINE / 2 > 2 &&
    spot.y + LINE / 2 < size.h - 2 &&
    taken.every(
      (other) =>
        Math.abs(other.x - spot.x) > (other.w + box.w) / 2 + GAP || Math.abs(other.y - spot.y) > (other.h + box.h) / 2 + 1,
    );
  if (from === to) {
    const up = { x: p.x, y: p.y - p.h / 2 - LINE },
      down = { x: p.x, y: p.y + p.h / 2 + LINE };
    const spot = (p.y > size.h / 2 ? [down, up] : [up, down]).find(fits);
    if (!spot) return null;
    const [edge, bow] = [p.y + (Math.sign(spot.y - p.y) * p.h) / 2, spot.y];
    lines.append(shape("path", { d: `M${p.x - 16} ${edge}C${p.x - 26} ${bow} ${p.x + 26} ${bow} ${p.x + 16} ${edge}` }));
    return { ...spot, ...box, before: "", after: " ↻" };
  }
  const spot = PLACES.map((at) => ({ x: p.x + at * (q.x - p.x), y: p.y + at * (q.y - p.y) })).find(fits);
  if (!spot) return null;
  const isSteep = Math.abs(q.y - p.y) > Math.abs(q.x - p.x) * 1.5;
  if (isSteep) return { ...spot, ...box, before: "", after: q.y > p.y ? " ↓" : " ↑" };
  return { ...spot, ...box, before: q.x > p.x ? "" : "← ", after: q.x > p.x ? " →" : "" };
}

// ------------------------------------------------------------------------------------------------------------ shapes

function shape(name: string, values: Record<string, string | number>): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(values)) made.setAttribute(key, String(value));
  return made;
}

function ends(p: Point | undefined, q: Point | undefined): Record<string, number> {
  return { x1: p?.x ?? 0, y1: p?.y ?? 0, x2: q?.x ?? 0, y2: q?.y ?? 0 };
}

function written(text: string, { x, y, w, h }: Point & { w?: number; h?: number }, size: number): SVGElement {
  const made = shape("text", { x, y, "font-size": size });
  made.textContent = plain(text);
  if (!w || !h) return made;
  const group = shape("g", {});
  group.append(shape("rect", { x: x - w / 2, y: y - h / 2, width: w, height: h, rx: 5 }), made);
  return group;
}

function clickable(ask: (() => void) | null, name: string, kind: string, ...parts: SVGElement[]): SVGElement {
  const group = shape("g", { class: kind, ...(ask ? { role: "button", tabindex: 0, "aria-description": plain(name) } : {}) });
  group.append(...parts);
  if (ask) {
    group.addEventListener("click", ask);
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      ask();
    });
  }
  return group;
}

let pen: CanvasRenderingContext2D | null = null;

function width(text: string, size: number, isBold = false): number {
  pen ??= document.createElement("canvas").getContext("2d");
  if (!pen) return text.length * size * 0.6;
  pen.font = `${isBold ? 600 : 400} ${size}px system-ui, sans-serif`;
  return pen.measureText(plain(text)).width;
}

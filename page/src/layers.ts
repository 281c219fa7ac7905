/** Where the parts of a proof stand: a column for each variable of the reading, the answers at the left, names at the right. */

import { plain } from "./dom";
import type { Edge, Hit } from "./records";

export type LayeredNode = { id: string; name: string; type: string; about: string };
export type Content = {
  columns: { title: string; nodes: LayeredNode[] }[];
  edges: Edge[];
  /** The edges that lead to an answer. */
  paths: ReadonlyMap<string, Edge[]>;
};
/** A node, or what stands for several: the rest of a long column, which `hides` them, or a place where a line passes. */
export type Box = {
  id: string;
  column: number;
  kind: "node" | "more" | "fewer" | "slot";
  node: LayeredNode | null;
  hides: LayeredNode[];
  name: string;
  lines: string[];
  x: number;
  y: number;
  width: number;
  height: number;
};
/** All edges between two boxes, as one line; `left` is above where both stand in one column. */
export type Line = {
  left: Box;
  right: Box;
  via: Box[];
  edges: Edge[];
  text: string;
  isForward: boolean;
  isBackward: boolean;
  port: number;
  path: string;
};
export type Label = { x: number; y: number; anchor: "start" | "middle" | "end"; text: string; full: string; kind: "title" | "edge" };
export type Places = { width: number; height: number; font: number; boxes: Box[]; lines: Line[]; labels: Label[] };
export type Words = { more: (n: number) => string; fewer: string; kinds: (n: number) => string; edge: (type: string) => string };

export const MOST = 12; // nodes of a column that are shown at first
export const MOST_KINDS = 2; // of edges between two columns that are named one by one
const SMALL = 11,
  LINE = 16,
  PORT = 15,
  SLOT = 20; // pixels: of a label's letters, of a line of a name, between labels at one box, of a passing line
/** Pixels of a name's letters, beside a name and its dot together, of a gap at least, and at the edges; less in a narrow room. */
type Sizes = { font: number; pad: number; gap: number; edge: number };
const WIDE: Sizes = { font: 13, pad: 31, gap: 46, edge: 20 },
  NARROW: Sizes = { font: 12, pad: 28, gap: 36, edge: 8 },
  NARROW_ROOM = 600;
const TITLE = 1.1; // how much wider a bold text is
const LEAST_TEXT = 66,
  MOST_GAP = 240,
  LEAST_END = 3,
  ARC = 34,
  LEAST_ROW = 8,
  MOST_ROW = 20,
  SWEEPS = 6;

const context = document.createElement("canvas").getContext("2d");

/** Return how wide a text is, in pixels. */
function measure(text: string, size: number): number {
  if (!context) return text.length * size * 0.6;
  context.font = `${size}px system-ui, sans-serif`;
  return context.measureText(text).width;
}

/** Return the ids of nodes by column: answers, then by their layers; what has none stands behind its neighbour. */
export function columnsOf(hits: readonly Hit[], edges: readonly Edge[], others: readonly string[], isPath = false): string[][] {
  const layers = new Map(hits.map((hit, place) => [hit.id, isPath ? place : 0])),
    answers = new Set(layers.keys());
  for (const end of hits.flatMap((hit) => hit.ends ?? []))
    if (end.layer && !answers.has(end.id)) layers.set(end.id, Math.max(end.layer, layers.get(end.id) ?? 0));
  for (let before = -1; before < layers.size; ) {
    before = layers.size;
    for (const [id, layer] of [...layers])
      for (const { source, target } of edges) {
        const far = source === id ? target : target === id ? source : id;
        if (!layers.has(far)) layers.set(far, layer + 1);
      }
  }
  const last = Math.max(0, ...layers.values()) + (answers.size ? 1 : 0);
  for (const id of others) if (!layers.has(id)) layers.set(id, last);
  return [...new Set(layers.values())]
    .sort((a, b) => a - b)
    .map((layer) => [...layers].filter(([, own]) => own === layer).map(([id]) => id));
}

/** Return where everything stands in a room; of a column that is not `open` the first dozen nodes do. */
export function places(content: Content, room: { width: number; height: number }, open: ReadonlySet<number>, words: Words): Places {
  const columns = boxesOf(content, open, words);
  const lines = linesOf(content.edges, columns, words);
  const slots = slotsOf(lines, columns);
  const sizes = room.width < NARROW_ROOM ? NARROW : WIDE;
  const { gaps, headers, margin } = gapsOf(lines, columns, sizes, words);
  const texts = slots.map((slot): Label => ({ x: 0, y: 0, anchor: "middle", text: slot.name, full: slot.name, kind: "edge" }));
  const width = across(columns, gaps, margin, room.width, sizes);
  const labels = headersOf(content, columns, headers, width);
  const top = Math.max(...labels.map((label) => label.y)) + 12;
  const height = down(columns, lines, top, room.height);
  for (const line of lines) line.path = pathOf(line);
  slots.forEach((slot, place) => {
    const label = texts[place]!;
    Object.assign(label, { x: slot.x + slot.width / 2, y: slot.y - 4, text: fitted(slot.name, slot.width, SMALL) });
  });
  labels.push(...texts.filter((_, place) => slots[place]!.column === firstOf(lines, slots[place]!)), ...besideOf(lines, headers));
  apart(labels);
  return { width, height, font: sizes.font, boxes: columns.flat().filter((box) => box.kind !== "slot"), lines, labels };
}

// --------------------------------------------------------------------------------------------------- boxes and lines

function boxesOf({ columns }: Content, open: ReadonlySet<number>, words: Words): Box[][] {
  return columns.map(({ nodes }, column) => {
    const box = (kind: Box["kind"], id: string, name: string, node: LayeredNode | null, hides: LayeredNode[] = []): Box => ({
      ...{ id, column, kind, node, hides, name, lines: [], x: 0, y: 0, width: 0, height: 0 },
    });
    const isCut = nodes.length > MOST && !open.has(column),
      shown = isCut ? nodes.slice(0, MOST) : nodes;
    const boxes = shown.map((node) => box("node", node.id, plain(node.name.split(" > ").at(-1) || node.id), node));
    if (isCut) boxes.push(box("more", `\u0000more ${column}`, words.more(nodes.length - MOST), null, nodes.slice(MOST)));
    else if (nodes.length > MOST) boxes.push(box("fewer", `\u0000fewer ${column}`, words.fewer, null));
    return boxes;
  });
}

function linesOf(edges: readonly Edge[], columns: Box[][], words: Words): Line[] {
  const at = new Map<string, Box>(),
    rank = new Map<Box, number>(),
    lines = new Map<string, Line & { forward: Set<string>; backward: Set<string> }>();
  for (const box of columns.flat()) {
    rank.set(box, rank.size);
    for (const node of box.node ? [box.node] : box.hides) at.set(node.id, box);
  }
  for (const edge of edges) {
    const source = at.get(edge.source),
      target = at.get(edge.target);
    if (!source || !target || source === target) continue;
    const isForward = rank.get(source)! < rank.get(target)!,
      [left, right] = isForward ? [source, target] : [target, source],
      key = `${left.id}\u0000${right.id}`;
    const line = lines.get(key) ?? {
      ...{ left, right, via: [], edges: [], text: "", isForward: false, isBackward: false, port: 0, path: "" },
      ...{ forward: new Set<string>(), backward: new Set<string>() },
    };
    lines.set(key, line);
    line.edges.push(edge);
    (isForward ? line.forward : line.backward).add(plain(words.edge(edge.type)));
    line.isForward ||= isForward;
    line.isBackward ||= !isForward;
  }
  for (const line of lines.values()) {
    const isArc = line.left.column === line.right.column;
    const [forward, backward] = [line.forward, line.backward].map((names) => [...names].join(", "));
    const ways = [forward && `${forward} →`, backward && `← ${backward}`].filter(Boolean);
    line.text = isArc ? [...new Set([...line.forward, ...line.backward])].join(", ") : ways.join(", ");
  }
  return [...lines.values()];
}

/** Have lines over more than one gap pass between the nodes of the columns on their way, those to one node side by side as one. */
function slotsOf(lines: readonly Line[], columns: Box[][]): Box[] {
  const slots = new Map<string, Box>();
  for (const line of lines)
    for (let column = line.left.column + 1; column < line.right.column; column++) {
      const id = `\u0000slot ${line.left.column} ${column} ${line.right.id} ${line.text}`;
      let slot = slots.get(id);
      if (!slot) {
        slot = { id, column, kind: "slot", node: null, hides: [], name: line.text, lines: [], x: 0, y: 0, width: 0, height: SLOT };
        slots.set(id, slot);
        columns[column]!.push(slot);
      }
      line.via.push(slot);
    }
  return [...slots.values()];
}

const firstOf = (lines: readonly Line[], slot: Box): number =>
  (lines.find((line) => line.via.includes(slot))?.left.column ?? slot.column) + 1;

/** Return the widths of the gaps, and the one label of each bundle of lines that are all called the same. */
function gapsOf(
  lines: readonly Line[],
  columns: Box[][],
  sizes: Sizes,
  words: Words,
): { gaps: number[]; headers: Map<string, string>; margin: number } {
  const gaps = columns.slice(1).map(() => sizes.gap),
    headers = new Map<string, string>();
  let margin = sizes.edge;
  const bundles = grouped(lines.filter((line) => !line.via.length), bundleOf);
  for (const [bundle, own] of bundles) {
    const texts = new Set(own.map((line) => line.text)),
      { left, right } = own[0]!,
      isArc = left.column === right.column;
    const kinds = [...new Set(own.flatMap((line) => line.edges.map((edge) => words.edge(edge.type))))],
      isOne = texts.size === 1 || kinds.length > MOST_KINDS;
    if (kinds.length > MOST_KINDS) headers.set(bundle, words.kinds(kinds.length));
    else if (isOne) headers.set(bundle, own[0]!.text);
    else ported(own);
    const width = isOne ? 0 : Math.max(...own.map((line) => measure(line.text, SMALL))) + 20;
    const needed = (isArc ? ARC + 8 : 24) + Math.min(width, MOST_GAP);
    if (right.column === 0) margin = Math.max(margin, needed);
    else if (isArc) gaps[right.column - 1]! += needed;
    else gaps[left.column] = Math.max(gaps[left.column]!, needed);
  }
  return { gaps, headers, margin };
}

function grouped<T, K>(items: readonly T[], key: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}

const bundleOf = (line: Line): string => `${line.left.column} ${line.right.column}`;

/** Give lines that differ in what they are called places of their own at the box that they come to. */
function ported(lines: readonly Line[]): void {
  for (const [right, own] of grouped(lines, (line) => line.right)) {
    const texts = [...new Set(own.map((line) => line.text))];
    for (const line of own) line.port = (texts.indexOf(line.text) - (texts.length - 1) / 2) * PORT;
    right.height = Math.max(right.height, texts.length * PORT + 4);
  }
}

// -------------------------------------------------------------------------------------------------- across and down

/** Give columns their places and boxes their texts; return the width of it all, which a narrow room may be too small for. */
function across(columns: Box[][], gaps: number[], margin: number, width: number, { font, pad, edge }: Sizes): number {
  const natural = columns.map((boxes) =>
    Math.max(
      ...boxes.map((box) =>
        box.kind === "slot" ? Math.min(140, measure(box.name, SMALL) + 8) : measure(box.name, font) + pad,
      ),
    ),
  );
  const room = width - margin - edge - sum(gaps),
    least = LEAST_TEXT + pad;
  let most = Math.max(...natural);
  while (most > least && sum(natural.map((own) => Math.min(own, most))) > room) most -= 2;
  const own = natural.map((one) => Math.ceil(Math.min(one, Math.max(most, least)))),
    rest = room - sum(own);
  let x = margin;
  columns.forEach((boxes, column) => {
    for (const box of boxes) {
      box.x = x;
      box.width = own[column]!;
      if (box.kind === "slot") continue;
      box.lines = wrapped(box.name, own[column]! - pad, font);
      box.width = Math.ceil(Math.max(...box.lines.map((line) => measure(line, font)))) + pad;
      box.height = Math.max(box.height, box.lines.length * LINE + 6);
    }
    const gap = gaps[column];
    if (gap !== undefined) x += own[column]! + Math.max(gap, Math.min(MOST_GAP, gap + Math.max(0, rest) / gaps.length));
    else x += own[column]!;
  });
  return Math.max(x + edge, 0);
}

/** Give boxes their heights so that few lines cross: each near the middle of what it is joined to. Return the height of it all. */
function down(columns: Box[][], lines: readonly Line[], top: number, height: number): number {
  const beside = new Map<Box, Box[]>();
  const join = (one: Box, other: Box) => {
    if (one.column === other.column) return;
    beside.set(one, [...(beside.get(one) ?? []), other]);
    beside.set(other, [...(beside.get(other) ?? []), one]);
  };
  for (const line of lines) {
    const chain = [line.left, ...line.via, line.right];
    chain.slice(1).forEach((box, place) => join(chain[place]!, box));
  }
  const tallest = Math.max(...columns.map((boxes) => sum(boxes.map((box) => box.height)))),
    count = Math.max(...columns.map((boxes) => boxes.length));
  const row = Math.max(LEAST_ROW, Math.min(MOST_ROW, (height - top - 12 - tallest) / count));
  const most = Math.max(...columns.map((boxes) => sum(boxes.map((box) => box.height + row)) - row));
  for (const boxes of columns) stack(boxes, boxes.map((_, place) => place * 1e-3), row, most);
  for (let sweep = 0; sweep < SWEEPS; sweep++)
    for (const boxes of sweep % 2 ? [...columns].reverse() : columns) {
      const wanted = new Map(boxes.map((box) => [box, mean((beside.get(box) ?? [box]).map((other) => other.y))]));
      boxes.sort((a, b) => Number(isLast(a)) - Number(isLast(b)) || wanted.get(a)! - wanted.get(b)! || a.y - b.y);
      stack(boxes, boxes.map((box) => wanted.get(box)!), row, most);
    }
  const all = columns.flat(),
    highest = Math.min(...all.map((box) => box.y - box.height / 2));
  for (const box of all) box.y += top - highest;
  return Math.max(...all.map((box) => box.y + box.height / 2)) + 8;
}

const isLast = (box: Box): boolean => box.kind === "more" || box.kind === "fewer";

/** Put boxes below one another, in their order, each as near as there is room to where it is wanted, between 0 and `most`. */
function stack(boxes: readonly Box[], wanted: readonly number[], row: number, most: number): void {
  const pushed = (places: readonly number[], begin: number) => {
    let end = begin;
    boxes.forEach((box, place) => {
      box.y = Math.max(places[place]!, end + box.height / 2);
      end = box.y + box.height / 2 + row;
    });
  };
  pushed(wanted, -Infinity);
  const shift = mean(boxes.map((box, place) => wanted[place]! - box.y));
  pushed(boxes.map((box) => box.y + shift), 0);
  let begin = most;
  for (const box of [...boxes].reverse()) {
    box.y = Math.min(box.y, begin - box.height / 2);
    begin = box.y - box.height / 2 - row;
  }
}

/** Return a line as the path of an SVG. */
function pathOf({ left, right, via, port }: Line): string {
  const number = (value: number) => value.toFixed(1);
  if (left.column === right.column) {
    const [x1, y1, x2, y2] = [left.x, left.y, right.x, right.y + port];
    return `M${number(x1)} ${number(y1)}C${[x1 - ARC, y1, x2 - ARC, y2, x2 - 2, y2].map(number).join(" ")}`;
  }
  let [x, y] = [left.x + left.width, left.y],
    path = `M${number(x)} ${number(y)}`;
  for (const [index, box] of [...via, right].entries()) {
    const isEnd = index === via.length,
      [toX, toY] = [isEnd ? box.x - 2 : box.x, box.y + (isEnd ? port : 0)],
      middle = (x + toX) / 2;
    path += `C${[middle, y, middle, toY, toX, toY].map(number).join(" ")}`;
    if (!isEnd) path += `H${number(box.x + box.width)}`;
    [x, y] = [box.x + (isEnd ? 0 : box.width), toY];
  }
  return path;
}

// ------------------------------------------------------------------------------------------------------------ labels

/** Return the titles of the columns, and beneath them what the lines between two columns are called. */
function headersOf(content: Content, columns: Box[][], headers: ReadonlyMap<string, string>, width: number): Label[] {
  const starts = columns.map((boxes) => Math.min(...boxes.map((box) => box.x))),
    ends = columns.map((boxes) => Math.max(...boxes.map((box) => box.x + box.width)));
  let end = 0;
  const titles = content.columns.map(({ title }, column): Label => {
    const x = Math.max(end, Math.min(starts[column]!, width - TITLE * measure(title, SMALL) - 6)),
      text = fitted(title, ((starts[column + 1] ?? width + 4) - x - 8) / TITLE, SMALL);
    end = x + TITLE * measure(text, SMALL) + 8;
    return { x, y: 15, anchor: "start", text, full: title, kind: "title" };
  });
  const edges = [...headers].map(([bundle, text]): Label => {
    const [left = 0, right = 0] = bundle.split(" ").map(Number);
    const shown = fitted(text, 180, SMALL),
      half = measure(shown, SMALL) / 2,
      middle = left === right ? starts[right]! - ARC / 2 : (ends[left]! + starts[right]!) / 2;
    const x = Math.max(half + 2, Math.min(middle, width - half - 2));
    return { x, y: 32, anchor: "middle", text: shown, full: text, kind: "edge" };
  });
  const labels = [...titles, ...edges];
  apart(labels);
  return labels;
}

/** Return the labels of lines that differ from others between the same columns: at the box that they come to. */
function besideOf(lines: readonly Line[], headers: ReadonlyMap<string, string>): Label[] {
  const labels = new Map<string, Label>();
  for (const line of lines) {
    if (line.via.length || headers.has(bundleOf(line))) continue;
    const isArc = line.left.column === line.right.column,
      y = isArc ? (line.left.y + line.right.y) / 2 + 4 : line.right.y + line.port - 4,
      x = line.right.x - (isArc ? ARC : 14);
    const key = isArc ? line.path : `${line.right.id} ${line.text}`;
    labels.set(key, { x, y, anchor: "end", text: fitted(line.text, MOST_GAP - 30, SMALL), full: line.text, kind: "edge" });
  }
  return [...labels.values()];
}

/** Move labels down that lie on others. */
function apart(labels: readonly Label[]): void {
  const rows: { begin: number; end: number; y: number }[] = [];
  for (const label of labels) {
    const width = measure(label.text, SMALL) + 6,
      begin = label.x - (label.anchor === "start" ? 0 : label.anchor === "end" ? width : width / 2);
    while (rows.some((other) => begin < other.end && other.begin < begin + width && Math.abs(other.y - label.y) < SMALL + 1))
      label.y += 2;
    rows.push({ begin, end: begin + width, y: label.y });
  }
}

/** Return a text in at most two lines of a width; what has no room ends with dots. */
function wrapped(text: string, width: number, font: number): string[] {
  if (measure(text, font) <= width) return [text];
  let first = "";
  for (const word of text.split(" ")) {
    const longer = first ? `${first} ${word}` : word;
    if (measure(longer, font) > width) break;
    first = longer;
  }
  if (!first) first = begun(text, width, font); // a word that is longer than the line is broken
  if (first.length > LEAST_END && text.length - first.length < LEAST_END && !text.includes(" "))
    first = text.slice(0, text.length - LEAST_END); // a single letter on a line of its own is hard to read
  const rest = text.slice(first.length).trim();
  return rest ? [first, fitted(rest, width, font)] : [first];
}

function fitted(text: string, width: number, size: number): string {
  return measure(text, size) <= width ? text : `${begun(text, width - measure("…", size), size)}…`;
}

function begun(text: string, width: number, size: number): string {
  const characters = Array.from(text);
  let count = characters.length;
  while (count > 1 && measure(characters.slice(0, count).join(""), size) > width) count--;
  return characters.slice(0, count).join("");
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
const mean = (numbers: readonly number[]): number => (numbers.length ? sum(numbers) / numbers.length : 0);

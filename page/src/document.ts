/** The document of a passage, in place of the picture: its outline, its passages with their forms, or its pages. */

import { fetched, get } from "./api";
import { byId, Characters, el, placesOf, plain } from "./dom";
import { place as placeOf, type Hit, type Source } from "./records";
import { number, say } from "./texts";

type Range = [number, number];
type Span = { begin: number; end: number; style: "strong" | "em" | "code" | "link"; address: string };
type Block = {
  kind: "line" | "heading" | "paragraph" | "item" | "quote" | "code" | "table";
  begin: number;
  end: number;
  level: number;
  number: number | null;
  spans: Span[];
  rows: Range[][];
};
type Part = { id: string; text: string; source: Source | null; headings: string[]; blocks: Block[] };
type Entry = { text: string; level: number; offset: number; page: number | null };
type DocumentPage = {
  id: string;
  name: string;
  file: string | null;
  total: number;
  offset: number;
  place: number;
  parts: Part[];
  outline: Entry[];
  headings: number;
  has_pictures: boolean;
  notes: string[];
};

/** A place in a document: a passage, which of its characters are quoted, and the words that were asked for. */
export type Place = { id: string; range: Range | null; words: string[]; quote?: string; isNearest?: boolean };
export type Uses = { graph: () => string; opened: () => void; closed: () => void; toGraph: () => void };

/** Tell whether a hit is a passage of a document, and not a node. */
export const isPassage = (hit: Hit): boolean =>
  hit.source?.file != null && (hit.span !== null || hit.source.line !== null || hit.source.page !== null);

/** Return the place of a hit; that of a sentence of it, where one is quoted. */
export function placeIn(hit: Hit, quote?: string): Place {
  const shown = new Characters(hit.text);
  return { id: hit.id, range: hit.span, words: hit.marks.map((mark) => shown.part(...mark)), ...(quote ? { quote } : {}) };
}

// ----------------------------------------------------------------------------------------------------------- addresses

const valuesOf = (hash: string): URLSearchParams => new URLSearchParams(hash.replace(/^#/, ""));

/** Return a link without its place in a document. */
export function withoutPlace(hash: string): string {
  const values = valuesOf(hash);
  values.delete("doc");
  values.delete("at");
  return values.size ? `#${values}` : "";
}

/** Return a link that opens a document at a place, too. */
export function withPlace(hash: string, graph: string, { id, range }: Place): string {
  const values = valuesOf(withoutPlace(hash));
  if (!values.has("graph")) values.set("graph", graph);
  values.set("doc", id);
  if (range) values.set("at", range.join("-"));
  return `#${values}`;
}

/** Return the place in a document that a link holds, if it holds one. */
export function linkedPlace(hash: string): Place | null {
  const values = valuesOf(hash),
    id = values.get("doc"),
    at = /^(\d{1,7})-(\d{1,7})$/.exec(values.get("at") ?? "");
  return id ? { id, range: at ? [Number(at[1]), Number(at[2])] : null, words: [] } : null;
}

// ------------------------------------------------------------------------------------------------------------ the view

export class DocumentView {
  private readonly box = byId("document");
  private asked = 0;
  private place: Place | null = null;
  private page: DocumentPage | null = null;
  private text = el("div", { class: "text" });
  private opener: Element | null = null;
  private isWaiting = false; // the place is not in sight yet: the side is not shown

  constructor(private readonly uses: Uses) {}

  get isOpen(): boolean {
    return !this.box.hidden;
  }

  /** Forget the document, and show the picture. */
  close(): void {
    this.asked++;
    this.place = this.page = null;
    this.hide();
  }

  /** Show the picture; the document is kept. */
  hide(): void {
    if (!this.isOpen) return;
    const isInside = this.box.contains(document.activeElement);
    this.turn(false);
    if (isInside && this.opener instanceof HTMLElement) this.opener.focus();
  }

  /** Show a document again that was hidden. */
  again(): void {
    if (this.page) this.turn(true);
  }

  /** Show the document of a place, this place in sight; with `isAsked` whoever asked for it is led there. */
  async show(place: Place, isAsked: boolean): Promise<void> {
    const mine = ++this.asked;
    if (isAsked && !this.box.contains(document.activeElement)) this.opener = document.activeElement;
    this.place = place;
    this.turn(true);
    if (!this.page) this.box.replaceChildren(this.bar(say("loading")));
    try {
      const page = await get<DocumentPage>("api/file", { graph: this.uses.graph(), id: place.id });
      if (mine !== this.asked) return;
      this.page = page;
      this.fill(page);
      if (page.has_pictures) await this.draw(null);
      else this.inSight();
    } catch (error) {
      if (mine !== this.asked) return;
      this.page = null;
      this.box.replaceChildren(this.bar(""), el("p", { class: "refusal" }, (error as Error).message));
    }
    if (isAsked && mine === this.asked) this.box.focus({ preventScroll: true });
  }

  /** Bring the place into sight once its side is shown. */
  shown(): void {
    if (this.isWaiting) this.inSight();
  }

  // ------------------------------------------------------------------------------------------------------------ within

  private turn(isOpen: boolean): void {
    this.box.hidden = !isOpen;
    byId("picture").hidden = isOpen;
    byId("tab-seeing").textContent = say(isOpen ? "document" : "graph");
    byId("reopen").hidden = this.page === null;
    if (isOpen) this.uses.opened();
    else this.uses.closed();
  }

  private inSight(): void {
    const place = this.text.querySelector("mark.quoted, .here mark, .here, .box");
    this.isWaiting = !this.box.offsetParent;
    place?.scrollIntoView({ block: "center" });
  }

  private bar(title: string, ...more: (Node | string | null)[]): HTMLElement {
    return el(
      "header",
      {},
      el("h2", {}, title),
      ...more,
      el("button", { class: "quiet", title: "Esc", onclick: () => this.uses.toGraph() }, say("toGraph")),
    );
  }

  private fill(page: DocumentPage): void {
    const { file, name, outline } = page;
    const title = name && file !== name ? el("span", { class: "dim" }, name) : null;
    const turn = page.has_pictures
      ? el("button", { class: "quiet", id: "as-text", "aria-pressed": "false", onclick: () => this.asText() }, say("asText"))
      : null;
    this.text = el("div", { class: "text" });
    this.box.replaceChildren(
      this.bar(file ?? name, title, el("span", { class: "grow" }), turn),
      ...page.notes.map((note) => el("p", { class: "refusal" }, note)),
      el("div", { class: "body" }, outline.length ? this.outline(page) : null, this.text),
    );
    this.fillText(page, page.parts, page.offset);
  }

  // ----------------------------------------------------------------------------------------------------------- outline

  private outline({ outline, headings, parts, place }: DocumentPage): HTMLElement {
    const over = parts.find((part) => part.id === this.place?.id)?.headings ?? [];
    let current: HTMLElement | null = null;
    const top = el("ul"),
      above: { level: number; list: HTMLElement }[] = [{ level: 0, list: top }];
    for (const entry of outline) {
      while (above.length > 1 && (above.at(-1)?.level ?? 0) >= entry.level) above.pop();
      const list = above.at(-1)?.list ?? top;
      const words = entry.text || `${say("page")} ${number(entry.page ?? 0)}`;
      const inner = el("ul"),
        go = el("button", { class: "link", onclick: () => void this.go(entry, go) }, words);
      if (entry.offset <= place && over.includes(entry.text)) current = go;
      list.append(el("li", {}, go));
      list.lastElementChild?.append(inner);
      above.push({ level: entry.level, list: inner });
    }
    (current as HTMLElement | null)?.setAttribute("aria-current", "true");
    top.querySelectorAll("ul:empty").forEach((list) => list.remove());
    return el(
      "details",
      { class: "outline", open: this.box.clientWidth > 700 },
      el("summary", {}, say("outline")),
      el("nav", { "aria-label": say("outline") }, top),
      headings > outline.length ? el("p", { class: "dim" }, say("more", { n: headings - outline.length })) : null,
    );
  }

  /** Go to a heading, and load what stands there. */
  private async go(entry: Entry, button: HTMLElement): Promise<void> {
    this.box.querySelector(".outline [aria-current]")?.removeAttribute("aria-current");
    button.setAttribute("aria-current", "true");
    if (this.isDrawn && entry.page !== null) return this.draw(entry.page);
    let part = this.text.querySelector(`[data-place="${entry.offset}"]`);
    if (!part) {
      const page = await this.load(entry.offset);
      if (!page) return;
      this.fillText(page, page.parts, page.offset);
      part = this.text.querySelector(`[data-place="${entry.offset}"]`);
    }
    const heading = [...(part?.querySelectorAll("h3, h4, h5, h6") ?? [])].find((one) => one.textContent === plain(entry.text));
    const goal = (heading ?? part) as HTMLElement | null;
    goal?.focus({ preventScroll: true });
    goal?.scrollIntoView({ block: "start" });
  }

  // ------------------------------------------------------------------------------------------------------------ passages

  private async load(offset: number, k?: number): Promise<DocumentPage | null> {
    const mine = this.asked,
      query = { graph: this.uses.graph(), id: this.page?.id ?? "", offset: String(offset) };
    const page = await get<DocumentPage>("api/file", k === undefined ? query : { ...query, k: String(k) });
    return mine === this.asked ? page : null;
  }

  /** Show some passages, with what leads to those before and after them. */
  private fillText(page: DocumentPage, parts: readonly Part[], offset: number): void {
    const end = offset + parts.length;
    const nodes: Node[] = [];
    let above: string[] = [];
    parts.forEach((part, at) => {
      nodes.push(this.part(part, offset + at, above));
      above = part.headings;
    });
    const more = (words: string, n: number, read: () => Promise<void>): HTMLElement | null =>
      n > 0 ? el("button", { class: "chip more", onclick: () => void read() }, say(words as "earlier", { n })) : null;
    const step = 20;
    const before = more("earlierParts", offset, async () => {
      const size = Math.min(step, offset),
        got = await this.load(offset - size, size),
        box = this.scroller,
        from = box.scrollHeight - box.scrollTop;
      if (got) this.fillText(page, [...got.parts, ...parts], offset - size);
      box.scrollTop = box.scrollHeight - from;
    });
    const after = more("laterParts", page.total - end, async () => {
      const got = await this.load(end, step),
        box = this.scroller,
        top = box.scrollTop;
      if (got) this.fillText(page, [...parts, ...got.parts], offset);
      box.scrollTop = top;
      (this.text.querySelector(`[data-place="${end}"]`) as HTMLElement | null)?.focus({ preventScroll: true });
    });
    this.text.className = "text";
    this.text.replaceChildren(...[before, ...nodes, after].filter((node) => node !== null));
  }

  private part(part: Part, at: number, above: readonly string[]): HTMLElement {
    const isHere = part.id === this.place?.id,
      made = el("section", { class: isHere ? "part here" : "part", "data-place": at, tabindex: "-1" });
    if (isHere) made.setAttribute("aria-label", say("foundHere"));
    if (part.source && (part.source.line !== null || part.source.page !== null || part.source.rows !== null))
      made.append(
        el("p", { class: "from dim" }, placeOf({ ...part.source, file: "" }, { page: say("page"), rows: say("rows") }).replace(/^:/, `${say("line")} `)),
      );
    if (isHere && this.place?.isNearest) made.append(el("p", { class: "from dim" }, say("nearestPassage")));
    const first = part.headings.findIndex((heading, level) => heading !== above[level]);
    if (first >= 0) part.headings.slice(first).forEach((heading, level) => made.append(head(first + level + 1, heading)));
    write(part, isHere ? this.marks(part.text) : [], made);
    return made;
  }

  /** Return what is marked in the passage: the quoted sentence, then the words of the question. */
  private marks(text: string): Mark[] {
    const place = this.place;
    if (!place) return [];
    const quoted = place.quote && quotedIn(place.quote, text);
    if (quoted) place.range = quoted;
    const range = place.range;
    return [
      ...(range ? [{ begin: range[0], end: range[1], style: "quoted" } as const] : []),
      ...placesOf(place.words, text).map(([begin, end]) => ({ begin, end, style: "word" }) as const),
    ];
  }

  // -------------------------------------------------------------------------------------------------------------- pages

  /** What scrolls: the text, or on a phone the outline with it. */
  private get scroller(): HTMLElement {
    return (getComputedStyle(this.text).overflowY === "visible" && this.text.parentElement) || this.text;
  }

  private get isDrawn(): boolean {
    return this.text.classList.contains("drawn");
  }

  private asText(): void {
    if (!this.page) return;
    if (!this.isDrawn) void this.draw(null);
    else {
      byId("as-text").setAttribute("aria-pressed", "true");
      this.fillText(this.page, this.page.parts, this.page.offset);
      this.inSight();
    }
  }

  /** Show a page of a PDF as it looks, the place marked; null is the page of the place. */
  private async draw(wanted: number | null): Promise<void> {
    const { page, place } = this,
      mine = this.asked;
    if (!page || !place) return;
    const own = page.parts.find((part) => part.id === place.id) ?? page.parts[0];
    const at = wanted ?? own?.source?.page ?? 1;
    const query = { graph: this.uses.graph(), id: own?.id ?? place.id, page: String(at) };
    const range = own?.id === place.id && !place.isNearest ? place.range : [0, 0];
    const reply = await fetched("api/page", range ? { ...query, begin: String(range[0]), end: String(range[1]) } : query).catch(
      (error: Error) => error,
    );
    if (mine !== this.asked) return;
    if (reply instanceof Error) {
      this.fillText(page, page.parts, page.offset);
      this.text.prepend(el("p", { class: "refusal" }, reply.message));
      this.inSight();
      return;
    }
    const pages = Number(reply.headers.get("x-pages")),
      boxes = (reply.headers.get("x-boxes") ?? "").split(";").filter(Boolean).map((box) => box.split(",").map(Number)),
      bitmap = await createImageBitmap(await reply.blob());
    if (mine !== this.asked) return;
    const { width, height } = bitmap,
      label = say("pageOf", { n: at, all: pages }),
      isOwn = own?.id === place.id && at === own.source?.page;
    const canvas = el("canvas", { width, height, role: "img", "aria-label": `${label}, ${page.file}` });
    canvas.getContext("2d")?.drawImage(bitmap, 0, 0);
    const sheet = el("div", { class: "sheet" }, canvas);
    for (const [left = 0, top = 0, right = 0, bottom = 0] of boxes) {
      const box = el("div", { class: "box" });
      box.style.left = `${(100 * left) / width}%`;
      box.style.top = `${(100 * top) / height}%`;
      box.style.width = `${(100 * (right - left)) / width}%`;
      box.style.height = `${(100 * (bottom - top)) / height}%`;
      sheet.append(box);
    }
    const step = (to: number, words: string, mark: string): HTMLElement =>
      el("button", { class: "quiet", disabled: to < 1 || to > pages, "aria-label": words, onclick: () => void this.draw(to) }, mark);
    this.text.className = "text drawn";
    this.text.replaceChildren(
      el(
        "div",
        { class: "pages", role: "group", "aria-label": say("page") },
        step(at - 1, say("pageBefore"), "‹"),
        el("span", { role: "status" }, label),
        step(at + 1, say("pageAfter"), "›"),
        isOwn && !boxes.length ? el("span", { class: "dim" }, say(place.isNearest ? "nearestPassage" : "notMarked")) : null,
      ),
      sheet,
    );
    byId("as-text").setAttribute("aria-pressed", "false");
    if (wanted === null) this.inSight();
    else this.scroller.scrollTop = 0;
  }
}

// ---------------------------------------------------------------------------------------------------- forms as elements

type Mark = { begin: number; end: number; style: "quoted" | "word" };

/** Return where a quotation stands in a text: its words in their order, whatever space, marks or ends of blocks are between. */
function quotedIn(quote: string, text: string): [number, number] | null {
  const words = quote.match(/[\p{L}\p{N}]+/gu);
  const found = words && new RegExp(`(?<![\\p{L}\\p{N}])${words.join("[^\\p{L}\\p{N}]+")}(?![\\p{L}\\p{N}])[.!?:;)\"']*`, "u").exec(text);
  if (!found) return null;
  const begin = Array.from(text.slice(0, found.index)).length;
  return [begin, begin + Array.from(found[0]).length];
}

const head = (level: number, ...words: (Node | string)[]): HTMLElement =>
  el(`h${Math.min(6, level + 2)}` as "h3", { tabindex: "-1" }, ...words);

/** Write the blocks of a passage: lists nest, and lines of code, of quotations and of unknown form stay together. */
function write({ text, blocks }: Part, marks: readonly Mark[], into: HTMLElement): void {
  const characters = new Characters(text);
  const piece = ({ spans }: Block, begin: number, end: number) => styled(characters, begin, end, spans, marks);
  let lists: { level: number; list: HTMLElement }[] = [],
    last: HTMLElement | null = null,
    before: Block | null = null;
  for (const block of blocks) {
    const { kind, level, begin, end } = block,
      words = kind === "table" ? [] : piece(block, begin, end),
      goesOn = before?.kind === kind && last !== null;
    if (kind !== "item" && !(kind === "paragraph" && level)) lists = [];
    if (kind === "item") {
      const name = block.number === null ? "ul" : "ol";
      while (lists.length && ((lists.at(-1)?.level ?? 0) > level || (lists.at(-1)?.level === level && lists.at(-1)?.list.localName !== name)))
        lists.pop();
      if (lists.at(-1)?.level !== level) {
        const list = el(name);
        (lists.at(-1)?.list.lastElementChild ?? into).append(list);
        lists.push({ level, list });
      }
      lists.at(-1)?.list.append(el("li", { value: block.number }, ...words));
    } else if (kind === "table") into.append(table(block, (cell) => piece(block, ...cell)));
    else if (kind === "heading") into.append(head(level, ...words));
    else if ((kind === "line" || kind === "code") && goesOn && last) last.append(characters.part(before?.end ?? begin, begin), ...words);
    else if (kind === "line") into.append((last = el("p", { class: "prose" }, ...words)));
    else if (kind === "code") {
      last = el("code", {}, ...words);
      into.append(el("pre", { tabindex: "0" }, last));
    } else if (kind === "quote") {
      if (!goesOn) into.append((last = el("blockquote")));
      last?.append(el("p", {}, ...words));
    } else (lists.at(-1)?.list.lastElementChild ?? into).append(el("p", {}, ...words));
    before = block;
  }
}

function table({ rows: [names = [], ...rows] }: Block, cell: (range: Range) => Node[]): HTMLElement {
  return el(
    "div",
    { class: "table", tabindex: "0", role: "group", "aria-label": say("table") },
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, ...names.map((one) => el("th", { scope: "col" }, ...cell(one))))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((one) => el("td", {}, ...cell(one)))))),
    ),
  );
}

/** Return some characters with their styles and marks; the address of a link stands behind it. */
function styled(text: Characters, begin: number, end: number, spans: readonly Span[], marks: readonly Mark[]): Node[] {
  const inside = [...spans, ...marks].filter((one) => one.begin < end && one.end > begin);
  const cuts = [...new Set([begin, end, ...inside.flatMap((one) => [one.begin, one.end])])]
    .filter((at) => at >= begin && at <= end)
    .sort((a, b) => a - b);
  return cuts.slice(1).flatMap((to, place) => {
    const from = cuts[place] ?? begin,
      over = inside.filter((one) => one.begin <= from && one.end >= to);
    let made: Node = document.createTextNode(plain(text.part(from, to)));
    const after: Node[] = [];
    const kinds = over.map((one) => one.style).filter((style) => style === "quoted" || style === "word");
    if (kinds.length) made = el("mark", { class: kinds.join(" ") }, made);
    for (const one of over) {
      if (one.style === "link") {
        made = el("span", { class: "to", title: one.address }, made);
        if (one.end === to && !one.address.startsWith("#")) after.push(el("span", { class: "address" }, ` ⟨${one.address}⟩`));
      } else if (one.style !== "quoted" && one.style !== "word") made = el(one.style, {}, made);
    }
    return [made, ...after];
  });
}

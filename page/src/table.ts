/** All answers, and not the first twenty: more cards, the table of all, all of them as a file. */

import { fileOf, post } from "./api";
import { figure } from "./charts";
import { byId, el } from "./dom";
import { csv, fileName, save } from "./files";
import type { Asked, Turn } from "./history";
import { isUnread, kindOf, type Answers, type Hit, type Result } from "./records";
import { say } from "./texts";

const MORE = 20,
  PAGE = 50,
  LONG = 40; // characters of a cell
const READERS = /^(anchor|reader)\b/;

export type Uses = {
  pick: (id: string) => void;
  add: (hits: Hit[]) => void;
  failed: (error: unknown) => void;
};

/** What names the answers to the server: the reading and its filters. */
type Whole = { graph: string; question: string; reading: string; node_types: string[]; where: string[] };

/** Return what names all answers of a question; null where it was not read exactly. */
export function wholeOf(asked: Asked, { method, question, reading, total }: Result): Whole | null {
  if (!reading?.text || !total || !READERS.test(method)) return null;
  const { graph, node_types, where } = asked;
  return { graph, question, reading: reading.text, node_types, where };
}

export class AllAnswers {
  private readonly box = byId("all");
  private listed = 0;

  constructor(private readonly uses: Uses) {}

  clear(): void {
    this.box.replaceChildren();
  }

  /** Offer the answers behind those that are listed. */
  show({ asked, result, hits }: Turn): void {
    this.clear();
    const whole = wholeOf(asked, result),
      total = result.total ?? 0;
    this.listed = hits.filter((hit) => hit.complete).length;
    if (!whole || kindOf(result) === "groups" || this.listed >= total) return; // of groups their numbers are the answer
    const text = () => say("showMore", { n: Math.min(MORE, total - this.listed) });
    const more = el("button", { type: "button", onclick: () => void next() }, text());
    const next = async () => {
      more.disabled = true;
      try {
        const method = asked.method ? { method: asked.method } : {};
        const body = { ...whole, ...method, k: MORE, offset: this.listed, no_answer: true };
        const { hits = [] } = await post<Result>("api/ask", body);
        if (!more.isConnected) return;
        const answers = hits.filter((hit) => hit.complete);
        this.listed += answers.length;
        this.uses.add(answers);
        if (!answers.length || this.listed >= total) this.clear();
        more.textContent = text();
      } catch (error) {
        this.uses.failed(error);
      }
      more.disabled = false;
    };
    this.box.replaceChildren(more);
  }

  /** Return the buttons of a turn: the table, and the files; of hits that are no whole answer a file alone. */
  acts({ asked, result, hits }: Turn): HTMLElement[] {
    const whole = wholeOf(asked, result),
      nodes = { graph: asked.graph, nodes: hits.map((hit) => hit.id) };
    const button = (text: string, act: () => void) =>
      el("button", { class: "quiet", type: "button", onclick: act }, text);
    if (!whole) return hits.length && !isUnread(result) ? [button(say("saveHits"), () => void this.file(nodes, asked.question, "csv"))] : [];
    const groups = result.table?.kind === "groups" ? result.table : null;
    return [
      ...(groups ? [button(say("groupsCsv"), () => save(fileName(asked.question, "csv"), csv(groups.columns, groups.rows)))] : []),
      button(say("asTable", { n: result.total ?? 0 }), () => this.open(whole)),
      button(say(groups ? "countedCsv" : "allCsv"), () => void this.file(whole, asked.question, "csv")),
      button(say(groups ? "countedJson" : "allJson"), () => void this.file(whole, asked.question, "json")),
    ];
  }

  private async file(body: object, name: string, format: "csv" | "json"): Promise<void> {
    try {
      save(fileName(name, format), await fileOf("api/answers", { ...body, format }));
    } catch (error) {
      this.uses.failed(error);
    }
  }

  /** Show the table of all answers in a window of its own. */
  private open(whole: Whole): void {
    const close = el("button", { class: "quiet close", type: "button", onclick: () => made.close() }, "✕");
    close.setAttribute("aria-label", say("close"));
    const told = el("p", { role: "status", class: "dim" }),
      frame = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": say("tableOfAll") });
    let sort: string | null = null,
      descending = false,
      offset = 0;
    const step = (text: string, by: number) =>
      el("button", { type: "button", class: "quiet", onclick: () => void load((offset += by)) }, text);
    const before = step(say("previous"), -PAGE),
      after = step(say("next"), PAGE);
    const load = async (from: number) => {
      frame.setAttribute("aria-busy", "true");
      try {
        const page = await post<Answers>("api/answers", { ...whole, sort, descending, offset: from, k: PAGE });
        const last = from + page.rows.length;
        told.textContent = say("rowsOf", { from: Math.min(from + 1, last), to: last, n: page.total });
        before.disabled = from === 0;
        after.disabled = last >= page.total;
        frame.replaceChildren(this.table(page, sort, descending, by, made));
        frame.scrollTop = 0;
      } catch (error) {
        told.textContent = error instanceof Error ? error.message : String(error);
      }
      frame.removeAttribute("aria-busy");
    };
    const by = (name: string) => {
      descending = sort === name && !descending;
      sort = name;
      void load((offset = 0)).then(() =>
        frame.querySelector<HTMLElement>(`[data-column="${CSS.escape(name)}"]`)?.focus(),
      );
    };
    const made = el(
      "dialog",
      { class: "whole", "aria-label": say("tableOfAll"), onclose: () => made.remove() },
      el("code", {}, whole.reading),
      close,
      frame,
      el("div", { class: "row" }, before, after, told),
    );
    document.body.append(made);
    made.showModal();
    void load(0);
  }

  private table(
    { columns, rows, ids }: Answers,
    sort: string | null,
    descending: boolean,
    by: (name: string) => void,
    window: HTMLDialogElement,
  ): HTMLElement {
    const pick = (id: string, text: string) => {
      const onclick = () => {
        window.close();
        this.uses.pick(id);
      };
      return el("button", { class: "link", type: "button", onclick }, text || id);
    };
    const shown = [...columns.keys()].filter((at) => columns[at]!.kind !== "own" || columns[at]!.name !== "id");
    const order = ({ name, kind }: Answers["columns"][number]) => (kind !== "own" ? 1 : name === "text" ? 2 : name === "name" ? -1 : 0);
    shown.sort((a, b) => order(columns[a]!) - order(columns[b]!));
    const head = shown.map((at) => {
      const { name } = columns[at]!,
        isSorted = name === sort,
        sign = isSorted ? (descending ? " ▼" : " ▲") : "";
      const button = el("button", { class: "link", type: "button", "data-column": name, onclick: () => by(name) }, name + sign);
      return el("th", { scope: "col", "aria-sort": isSorted ? (descending ? "descending" : "ascending") : "none" }, button);
    });
    const body = rows.map((row, place) =>
      el(
        "tr",
        {},
        ...shown.map((at, first) => {
          const value = row[at];
          if (!first) return el("th", { scope: "row" }, pick(ids[place]!, String(value)));
          if (columns[at]!.kind === "edge" && isNode(value)) return el("td", {}, pick(value.id, value.name));
          const text = cell(value);
          if (text.length <= LONG) return el("td", { class: typeof value === "number" ? "number" : null }, text);
          const whole = el("div", { title: text, onclick: () => whole.classList.toggle("open") }, text);
          return el("td", { class: "long" }, whole);
        }),
      ),
    );
    return el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...body));
  }
}

const isNode = (value: unknown): value is { id: string; name: string } =>
  typeof value === "object" && value !== null && "id" in value && "name" in value;

function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : typeof value === "number" ? figure(value) : JSON.stringify(value);
}

/** The answer, how the question was read, and what could not be answered. */

import { Refused, Unreachable } from "./api";
import { bars } from "./charts";
import { byId, Characters, el, plain } from "./dom";
import type { Asked } from "./history";
import { kindOf, place, type Citation, type Hit, type Result, type ResultTable } from "./records";
import { roadTable } from "./roads";
import { tries } from "./start";
import { number, say } from "./texts";

export type Uses = {
  toCard: (id: string) => void;
  toPlace: (id: string, quote: string) => void;
  placeOf: (id: string) => number;
  pick: (id: string) => void;
  askReading: (reading: string) => void;
  askLine: (reading: string) => void;
  askUnfiltered: () => void;
  askInstead: (word: string, near: string) => void;
};

export class Answer {
  private readonly box = byId("answer");
  private readonly reading = byId("reading");
  private readonly words = el("p", { class: "said" });
  /** Says beneath a line that is edited why it cannot be asked; null where none is. */
  private tellEditor: ((error: unknown) => void) | null = null;

  constructor(private readonly uses: Uses) {}

  /** Say why a request failed beneath the line that is edited, null that none did; whether there is such a line. */
  failed(error: unknown): boolean {
    this.tellEditor?.(error);
    return this.tellEditor !== null;
  }

  clear(): void {
    this.tellEditor = null;
    this.box.hidden = this.reading.hidden = true;
    this.box.replaceChildren();
    this.reading.replaceChildren();
    this.words.replaceChildren();
  }

  /** Add words as the model writes them. */
  hear(part: string): void {
    if (this.box.hidden) this.open(this.words);
    this.words.append(plain(part));
  }

  /** Show an answer whose places are not known yet. */
  say(answer: string): void {
    this.words.replaceChildren(plain(answer));
    this.open(this.words);
  }

  /** Show what the whole result of a question says: how it was asked and read, refusal, answer, citations. */
  show(asked: Asked, result: Result, hits: readonly Hit[]): void {
    this.clear();
    this.showReading(asked, result);
    const { answer, long_answer: long, citations } = result;
    const parts: (Node | null)[] = [];
    const { table } = result;
    if (table?.kind === "groups") parts.push(this.groups(table));
    else if (answer !== null) {
      const said = this.cited(
        answer,
        citations.filter((citation) => citation.text === "answer"),
      );
      const isQuoted = result.answer_kind === "quotation",
        isShort = !isQuoted && result.answer_kind !== "text" && (!table || table.kind === "cypher");
      parts.push(el(isQuoted ? "blockquote" : "p", { class: isShort ? "said short" : "said" }, ...said));
    }
    if (table?.kind === "overview" && table.rows.length)
      parts.push(tries(table.rows.map((row) => String(row[1])), (question) => this.uses.askInstead("", question)));
    else if (table?.rows.length && table.kind !== "groups" && table.kind !== "overview") parts.push(roadTable(table, this.uses.pick));
    else if (long)
      parts.push(
        el(
          "details",
          {},
          el("summary", {}, say("reasoning")),
          el(
            "p",
            { class: "said" },
            ...this.cited(
              long,
              citations.filter((citation) => citation.text === "long_answer"),
            ),
          ),
        ),
      );
    const meeting = meetingOf(result, hits);
    if (meeting) parts.push(el("p", { class: "dim meeting" }, meeting));
    if (parts.length) this.open(...parts.filter((part) => part !== null));
  }

  /** Say that more are listed now. */
  listed(result: Result, hits: readonly Hit[]): void {
    this.box.querySelector(".meeting")?.replaceChildren(meetingOf(result, hits));
  }

  private groups({ columns, rows, readings }: ResultTable): HTMLElement {
    const asked = (reading: string | undefined) => (reading ? () => this.uses.askLine(reading) : null);
    const groups = rows.map(([group, value], at) => ({ label: String(group), value: Number(value), ask: asked(readings[at]) }));
    return bars(groups, [columns[0] ?? "", columns[1] ?? ""]);
  }

  private open(...parts: Node[]): void {
    this.box.hidden = false;
    this.box.replaceChildren(...parts);
  }

  private showReading(asked: Asked, { question, reading, refusal }: Result): void {
    const parts: Node[] = [],
      filters = [...asked.node_types.map((type) => `${say("type")}=${type}`), ...asked.where];
    if (question !== asked.question)
      parts.push(el("p", { class: "read" }, el("span", { class: "dim" }, say("askedAs")), el("span", {}, question)));
    if (reading?.text) parts.push(this.line(reading.text));
    const lines = refusal?.lines ?? []; // two readers' that differ, the rules' first
    if (lines.length) {
      const names = [say("byRules"), say("byReader", { name: reading?.by ?? "" })];
      parts.push(el("p", { class: "refusal" }, say("pickReading")));
      parts.push(
        ...lines.map((text, at) =>
          this.line(text, names[at], el("button", { onclick: () => this.uses.askReading(text) }, say("askReading"))),
        ),
      );
    } else if (refusal?.text) parts.push(el("p", { class: "refusal" }, say("noExact", { text: refusal.text })));
    if (refusal?.near.length) {
      const word = refusal.words[0] ?? "";
      parts.push(
        el(
          "p",
          { class: "near" },
          `${say("didYouMean")} `,
          ...refusal.near
            .slice(0, 6)
            .map((near) => el("button", { class: "chip", onclick: () => this.uses.askInstead(word, near) }, near)),
        ),
      );
    } else if (!refusal && reading?.not_understood.length)
      parts.push(el("p", { class: "refusal" }, say("unknownWords", { words: reading.not_understood.join(", ") })));
    if (refusal?.questions?.length)
      parts.push(
        el(
          "p",
          { class: "near" },
          `${say("couldAsk")} `,
          ...refusal.questions.map((instead) =>
            el("button", { class: "chip", onclick: () => this.uses.askInstead("", instead) }, instead),
          ),
        ),
      );
    if (filters.length) {
      const without = el("button", { class: "link", onclick: () => this.uses.askUnfiltered() }, say("askUnfiltered"));
      parts.push(el("p", { class: "filtered" }, `${say("onlyWith", { what: filters.join(", ") })} `, without));
    }
    this.reading.replaceChildren(...parts);
    this.reading.hidden = !parts.length;
  }

  private line(text: string, by = say("readAs"), ...more: Node[]): HTMLElement {
    const made = el(
      "p",
      { class: "read" },
      el("span", { class: "dim" }, by),
      el("code", {}, text),
      ...more,
      el("button", { class: "link", onclick: () => made.replaceWith(this.editor(text, made)) }, say("editReading")),
    );
    return made;
  }

  private editor(text: string, line: HTMLElement): HTMLElement {
    const field = el(
      "textarea",
      { rows: "2", "aria-label": say("readingLabel"), maxlength: "8000", spellcheck: "false" },
      text,
    );
    const told = el("div", { role: "alert", class: "refusal", hidden: true });
    const submit = (event: Event) => {
      event.preventDefault();
      if (field.value.trim()) this.uses.askReading(field.value.trim());
    };
    const leave = () => {
      this.tellEditor = null;
      made.replaceWith(line);
      line.querySelector<HTMLElement>("button.link")?.focus();
    };
    const put = (value: string, near: string) => {
      field.value = field.value.replace(value, near);
      told.hidden = true;
      field.focus();
    };
    this.tellEditor = (error) => {
      told.hidden = error === null;
      if (error === null) return;
      const { value, near } = error instanceof Refused ? error : { value: null, near: [] };
      const isThere = typeof value === "string" && field.value.includes(value);
      const chips = isThere ? near.map((one) => el("button", { class: "chip", type: "button", onclick: () => put(value, one) }, one)) : [];
      told.replaceChildren(
        el("p", {}, messageOf(error)),
        ...(chips.length ? [el("p", { class: "near" }, `${say("didYouMean")} `, ...chips)] : []),
      );
    };
    const made = el(
      "form",
      { class: "edit", onsubmit: submit },
      field,
      el(
        "div",
        { class: "row" },
        el("button", { type: "submit", class: "main" }, say("askReading")),
        el("button", { type: "button", onclick: leave }, say("cancel")),
      ),
      told,
    );
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
      if (event.key === "Escape") {
        event.stopPropagation();
        leave();
      }
    });
    setTimeout(() => field.focus());
    return made;
  }

  /** Return a text whose cited parts lead to what they rest on: brackets that hold ids become numbers of cards. */
  private cited(text: string, citations: readonly Citation[]): Node[] {
    const characters = new Characters(text),
      parts: Node[] = [];
    let at = 0;
    for (const { begin, end, ids, source, quote } of [...citations].sort((a, b) => a.begin - b.begin)) {
      const isMore = source !== null && at > 0 && end === at; // another sentence that the same words rest on
      if ((begin < at && !isMore) || end > characters.length) continue;
      if (!isMore) parts.push(document.createTextNode(plain(characters.part(at, begin))));
      if (source) {
        const where = place(source, { page: say("page"), rows: say("rows") });
        if (!isMore) parts.push(document.createTextNode(plain(characters.part(begin, end))));
        parts.push(...ids.map((id) => this.citation(id, where, quote || characters.part(begin, end))));
      } else parts.push(...ids.map((id) => this.citation(id, null)));
      at = end;
    }
    parts.push(document.createTextNode(plain(characters.part(at))));
    return parts;
  }

  private citation(id: string, where: string | null, quote = ""): HTMLElement {
    const rank = this.uses.placeOf(id),
      { toCard, toPlace, pick } = this.uses;
    const go = where !== null ? () => toPlace(id, quote) : () => (rank ? toCard : pick)(id);
    const title = plain(quote) || id,
      shown = where ?? (rank ? number(rank) : "↗");
    return el("button", { class: "cite", title, onclick: go }, shown);
  }
}

/** Say why a request failed. */
export function messageOf(error: unknown): string {
  if (error instanceof Unreachable) return say("unreachable");
  const wait = error instanceof Refused ? error.seconds : null;
  return `${error instanceof Error ? error.message : String(error)}${wait === null ? "" : ` ${say("retry", { n: wait })}`}`;
}

/** Say how many nodes meet all of a question where no answer names them, or not all are listed. */
export function meetingOf(result: Result, hits: readonly Hit[]): string {
  const { reading, answer, refusal, total: all } = result;
  const total = all ?? reading?.total,
    listed = hits.filter((hit) => hit.complete).length;
  if (!total || refusal || kindOf(result) === "groups" || (answer !== null && listed === total)) return "";
  return `${say("meeting", { n: total })}: ${listed === total ? say("allListed") : say("firstListed", { n: listed })}`;
}

/** Say how many answers are listed, and how many that are near. */
export function foundIn(result: Result, hits: readonly Hit[]): string {
  const kind = kindOf(result),
    n = hits.filter((hit) => hit.complete).length,
    rest = hits.length - n;
  if (!n && !result.reading?.complete) return say("found", { n: hits.length });
  const found = say(kind === "compare" ? "foundCommon" : kind === "path" ? "foundWay" : "foundAnswers", { n });
  return [n ? found : "", rest ? say("foundNear", { n: rest }) : ""].filter(Boolean).join(", ");
}

/** Say in one line which method ran, what it took, and what ended it. */
export function spentOn({ method, usage, stopped_by }: Result): string {
  const seconds =
    usage.seconds < 1 ? `${Math.round(usage.seconds * 1000)} ms` : `${number(Math.round(usage.seconds * 10) / 10)} s`;
  const cost = usage.calls
    ? [
        say("spentCalls", { n: usage.calls }),
        say("spentTokens", { n: usage.prompt_tokens + usage.completion_tokens }),
        !usage.usd ? "" : `${usage.usd.toFixed(4)} USD`,
      ]
    : [];
  return [method, seconds, ...cost, stopped_by === "finish" ? "" : say("endedBy", { what: stopped_by })]
    .filter(Boolean)
    .join(" · ");
}

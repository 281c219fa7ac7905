/** What a question gives beside a ranking: tables of a road, a second method beside the first, questions with names. */

import { meetingOf, spentOn } from "./answer";
import { post } from "./api";
import { byId, el } from "./dom";
import { saved, saveAs, unsave, type Asked, type Turn } from "./history";
import { isUnread, type Hit, type Result, type ResultTable } from "./records";
import { number, say } from "./texts";

const COMPARED_HITS = 10,
  NEAREST = 3; // of what was not read

/** Return the table of a road; nodes lead to themselves. */
export function roadTable({ kind, columns, rows }: ResultTable, pick: (id: string) => void): HTMLElement {
  const cell = (value: unknown, at: number) =>
    kind === "compare" && at === 0 ? el("th", { scope: "row" }, String(value)) : el("td", { "data-name": columns[at] === "both" ? say("both") : columns[at] }, shown(value, pick));
  return el(
    "div",
    { class: `wide ${kind}`, tabindex: "0", role: "region", "aria-label": say("table") },
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, ...columns.map((name) => headed(name)))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map(cell)))),
    ),
  );
}

const headed = (name: string): HTMLElement =>
  name ? el("th", { scope: "col" }, name === "both" ? say("both") : name) : el("td", {});

function shown(value: unknown, pick: (id: string) => void): Node | string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return number(value);
  if (typeof value !== "object") return String(value);
  const { id, name, source, type, target } = value as Record<string, unknown>;
  if (typeof id === "string" && typeof name === "string")
    return el("button", { class: "link", onclick: () => pick(id) }, name || id);
  if (source !== undefined && target !== undefined) return `${source} ${type} → ${target}`;
  return JSON.stringify(value);
}

// ------------------------------------------------------------------------------------------- what may be done further

export type Uses = {
  methods: () => string[];
  isServed: (asked: Asked) => boolean;
  pick: (id: string) => void;
  ask: (asked: Asked) => void;
  failed: (error: unknown) => void;
};

/** Below an answer: keep its question under a name, ask another method the same. */
export class Further {
  private readonly box = byId("further");
  private readonly beside = byId("beside");
  private running: AbortController | null = null;

  constructor(private readonly uses: Uses) {}

  clear(): void {
    this.running?.abort();
    this.box.hidden = this.beside.hidden = true;
    this.box.replaceChildren();
    this.beside.replaceChildren();
  }

  /** Show what may be done with a turn. */
  show(turn: Turn): void {
    const others = (turn.result.table && turn.result.table.kind !== "groups" ? [] : this.uses.methods()).filter((name) => name !== turn.result.method && name !== turn.asked.method);
    const method = el("select", { "aria-label": say("compareWith") }, ...others.map((name) => el("option", { value: name }, name)));
    const compare = el(
      "button",
      { class: "quiet", type: "button", onclick: () => void this.compare(turn, method.value) },
      say("compareWith"),
    );
    this.box.replaceChildren(this.keeper(turn), ...(others.length ? [el("span", { class: "pair" }, compare, method)] : []));
    this.box.hidden = false;
  }

  private keeper({ asked }: Turn): HTMLElement {
    const open = el("button", { class: "quiet", type: "button" }, say("saveQuestion"));
    open.onclick = () => {
      const name = el("input", { "aria-label": say("questionName"), maxlength: "80", value: asked.question.slice(0, 80), required: true });
      const form = el("form", { class: "pair" }, name, el("button", { class: "quiet", type: "submit" }, say("saveQuestion")));
      form.onsubmit = (event) => {
        event.preventDefault();
        if (!name.value.trim()) return;
        saveAs(name.value.trim(), asked);
        this.showSaved();
        form.replaceWith(el("span", { class: "dim", role: "status" }, say("savedAs", { name: name.value.trim() })));
      };
      open.replaceWith(form);
      name.select();
    };
    return open;
  }

  /** List the questions with names, of the graphs that are served. */
  showSaved(): void {
    const box = byId<HTMLDetailsElement>("saved"),
      all = saved().filter(({ asked }) => this.uses.isServed(asked));
    box.hidden = !all.length;
    const line = (name: string, asked: Asked) =>
      el(
        "li",
        { class: "pair" },
        el("button", { class: "link", title: asked.question, onclick: () => this.uses.ask(asked) }, name),
        el(
          "button",
          {
            class: "quiet",
            "aria-label": say("deleteSaved", { name }),
            title: say("deleteSaved", { name }),
            onclick: () => {
              unsave(name);
              this.showSaved();
            },
          },
          "×",
        ),
      );
    box.replaceChildren(
      el("summary", {}, say("savedQuestions", { n: all.length })),
      el("ul", {}, ...all.map(({ name, asked }) => line(name, asked))),
    );
  }

  /** Ask another method the same, and show the two beside each other. */
  private async compare(turn: Turn, method: string): Promise<void> {
    this.running?.abort();
    const mine = (this.running = new AbortController());
    const { graph, question, node_types, where } = turn.asked;
    this.beside.hidden = false;
    this.beside.replaceChildren(this.column(turn.result, turn.hits), el("p", { class: "dim", role: "status" }, say("loading")));
    try {
      const body = { graph, question, k: Math.max(turn.hits.length, COMPARED_HITS), node_types, where, method };
      const other = await post<Result>("api/ask", body, mine.signal);
      this.beside.replaceChildren(this.column(turn.result, turn.hits), this.column(other, other.hits ?? []));
    } catch (error) {
      if (mine.signal.aborted) return;
      this.beside.hidden = true;
      this.uses.failed(error);
    }
  }

  private column(result: Result, hits: readonly Hit[]): HTMLElement {
    const said = result.answer ?? (meetingOf(result, hits) || result.refusal?.text) ?? say("noAnswer"),
      unread = isUnread(result);
    const all = result.reading?.complete ? hits.filter((hit) => hit.complete) : hits,
      listed = all.slice(0, unread ? NEAREST : COMPARED_HITS),
      more = all.length - listed.length;
    return el(
      "article",
      {},
      el("h2", {}, result.method),
      el("p", { class: result.answer === null ? "dim" : "said" }, said),
      el(
        "ol",
        {},
        ...listed.map((hit) =>
          el("li", {}, el("button", { class: "link", onclick: () => this.uses.pick(hit.id) }, hit.name || hit.id), el("span", { class: "kind" }, ` ${hit.type}`)),
        ),
      ),
      unread ? el("p", { class: "dim" }, say("nearest", { n: listed.length })) : null,
      more > 0 && !unread ? el("p", { class: "dim" }, say("more", { n: more })) : null,
      el("p", { class: "dim" }, spentOn(result)),
    );
  }
}

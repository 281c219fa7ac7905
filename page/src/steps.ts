/** What agents do, step by step, as it happens: in words, with the call as it was beneath. */

import { byId, el } from "./dom";
import type { Call, Happening } from "./records";
import { say } from "./texts";

const ARGUMENTS = 160, // characters of a call's arguments
  NAMES = 3; // that are listed of more
const NO_AGENT = Infinity; // after all that have numbers

/** A call, the nodes that it names, and those that it found. */
export type Walked = { agent: number | null; call: Call; text: string; references: string[]; nodes: string[]; words?: string };

export class Steps {
  private readonly box = byId<HTMLDetailsElement>("steps");
  private readonly log = el("div", { role: "log" });
  private readonly heading = el("summary");
  private readonly lists = new Map<number, HTMLElement>();
  private readonly names = new Map<string, string>();
  private readonly told: { step: Walked; words: HTMLElement }[] = [];
  private count = 0;
  /** What calls asked for by id or name: it is drawn, too. */
  readonly named = new Set<string>();

  constructor() {
    this.box.replaceChildren(this.heading, this.log);
  }

  get walked(): Walked[] {
    return this.told.map(({ step }) => step);
  }

  clear(): void {
    this.count = 0;
    this.told.length = 0;
    this.named.clear();
    this.names.clear();
    this.lists.clear();
    this.log.replaceChildren();
    this.box.hidden = true;
  }

  fold(): void {
    this.box.open = false;
  }

  /** Show the steps of a proof in place of what was called to find it. */
  prove(walk: readonly Walked[]): void {
    this.clear();
    for (const step of walk) {
      const words = el("span", {}, this.wording(step));
      this.told.push({ step, words });
      this.add(null, words);
    }
    this.fold();
  }

  /** Take the names of nodes that steps tell by their ids alone. */
  learn(nodes: Iterable<{ id: string; name: string }>): void {
    for (const { id, name } of nodes) if (name) this.names.set(id, name);
    for (const { step, words } of this.told) words.textContent = this.wording(step);
  }

  hear(event: Happening): void {
    if (event.kind === "observation") {
      const { call, observation } = event,
        step = { agent: event.agent, call, text: observation.text, references: references(call), nodes: observation.nodes };
      for (const [, id, name] of step.text.matchAll(/\[([^\]\n]+)\] ([^\n]+?) \([^()\n]+\)/g)) this.names.set(id!, name!);
      const words = el("span", {}, this.wording(step));
      this.told.push({ step, words });
      const raw = el("details", { class: "raw" }, el("summary", {}, say("call")), el("code", {}, written(call)), el("p", { class: "dim" }, firstLine(step.text)));
      this.add(event.agent, words, raw);
      for (const reference of step.references) if (!reference.startsWith("@")) this.named.add(reference);
    } else if (event.kind === "note") this.add(null, el("span", { class: "dim" }, event.text));
    else if (event.kind === "step" && event.step.error)
      this.add(event.agent, el("span", { class: "refusal" }, event.step.error));
    else if (
      event.kind === "step" &&
      event.step.reply.message.content?.trim() &&
      event.step.reply.message.tool_calls.length
    )
      this.add(event.agent, el("span", {}, firstLine(event.step.reply.message.content.trim())));
  }

  /** Return a step in words: `PTGS2: 40 Disease, then 280 Compound`. */
  wording({ call, text, references, nodes, words }: Walked): string {
    if (words !== undefined) return words;
    const { query, steps } = argumentsOf(call),
      from = this.listed(references),
      found = nodes.length ? this.listed(nodes) : say("nothingFound");
    if (call.name === "follow") {
      const counts = Array.from(firstLine(text).matchAll(/-> @\d+ ([\d,]+ [^@]+?)(?= ->|$)/g), ([, count]) => count!.trim());
      return `${from}: ${counts.length ? counts.join(say("then")) : Array.isArray(steps) ? found : firstLine(text)}`;
    }
    if (call.name === "finish") return say("stepDone");
    if (call.name === "add_to_answer") return say("stepChosen", { names: from });
    if (call.name === "intersect") return say("stepShared", { names: from, found: shared(text) ?? found });
    if (call.name === "paths") return say("stepWays", { names: from, found });
    if (typeof query === "string" && query) return from ? say("stepNear", { names: from, query, found }) : say("stepSearch", { query, found });
    if (from) return `${from}: ${found}`;
    return `${call.name.replaceAll("_", " ")}: ${firstLine(text)}`;
  }

  /** Return the names of some nodes, what a call before has found as what it is. */
  private listed(ids: readonly string[]): string {
    const names = [...new Set(ids)].map((id) => (id.startsWith("@") ? this.handle(id) : (this.names.get(id) ?? id)));
    const more = names.length - NAMES;
    return names.slice(0, NAMES).join(", ") + (more > 0 ? ` ${say("andOthers", { n: more })}` : "");
  }

  /** Return what a set of nodes is that a call has made: `280 Compound (PTGS2)`. */
  private handle(id: string): string {
    for (const { step } of this.told) {
      const [, count] = firstLine(step.text).match(new RegExp(`-> ${id} ([\\d,]+ [^@]+?)(?: ->|$)`)) ?? [];
      if (count) return `${count} (${this.listed(step.references)})`;
    }
    return id;
  }

  private add(agent: number | null, ...parts: Node[]): void {
    if (!this.count) {
      this.box.hidden = false;
      this.box.open = true;
    }
    this.count++;
    this.heading.textContent = say("steps", { n: this.count });
    this.listOf(agent ?? NO_AGENT).append(el("li", {}, ...parts));
    this.log.scrollTop = this.log.scrollHeight;
  }

  /** Return the list of an agent, which stands in the order of their numbers, what no agent did last. */
  private listOf(agent: number): HTMLElement {
    const known = this.lists.get(agent);
    if (known) return known;
    const list = el("ol"),
      name = agent === NO_AGENT ? null : el("p", { class: "agent" }, say("agent", { n: agent + 1 }));
    const after = [...this.lists.keys()].filter((other) => other > agent).sort((a, b) => a - b)[0];
    this.lists.set(agent, list);
    this.log.insertBefore(
      el("section", {}, name, list),
      after === undefined ? null : (this.lists.get(after)?.parentElement ?? null),
    );
    return list;
  }
}

const firstLine = (text: string): string => text.split("\n")[0] ?? "";

/** Return how many nodes an `intersect` found, where it says so. */
const shared = (text: string): string | null => text.match(/@\d+: ([\d,]+ nodes?)/)?.[1] ?? null;

function argumentsOf(call: Call): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(call.arguments || "{}");
    return typeof read === "object" && read !== null ? (read as Record<string, unknown>) : {};
  } catch {
    return {}; // a model's text: what is no JSON names nothing
  }
}

const written = (call: Call): string =>
  `${call.name}(${Object.entries(argumentsOf(call))
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(", ")
    .slice(0, ARGUMENTS)})`;

function references(call: Call): string[] {
  const { node, start, a, b, nodes } = argumentsOf(call);
  return [node, start, a, b, ...(Array.isArray(nodes) ? nodes : [])].filter(
    (name): name is string => typeof name === "string" && name !== "",
  );
}

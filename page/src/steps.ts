/** What agents do, step by step, as it happens. */

import { byId, el } from "./dom";
import type { Call, Happening } from "./records";
import { say } from "./texts";

const ARGUMENTS = 160; // characters of a call's arguments
const NO_AGENT = Infinity; // after all that have numbers

export class Steps {
  private readonly box = byId<HTMLDetailsElement>("steps");
  private readonly log = el("div", { role: "log" });
  private readonly heading = el("summary");
  private readonly lists = new Map<number, HTMLElement>();
  private count = 0;
  /** What calls asked for by id or name: it is drawn, too. */
  readonly named = new Set<string>();

  constructor() {
    this.box.replaceChildren(this.heading, this.log);
  }

  clear(): void {
    this.count = 0;
    this.named.clear();
    this.lists.clear();
    this.log.replaceChildren();
    this.box.hidden = true;
  }

  fold(): void {
    this.box.open = false;
  }

  hear(event: Happening): void {
    if (event.kind === "observation") {
      this.add(
        event.agent,
        el("code", {}, written(event.call)),
        el("br"),
        el("span", { class: "dim" }, event.observation.text.split("\n")[0] ?? ""),
      );
      for (const reference of references(event.call)) this.named.add(reference);
    } else if (event.kind === "note") this.add(null, el("span", { class: "dim" }, event.text));
    else if (event.kind === "step" && event.step.error)
      this.add(event.agent, el("span", { class: "refusal" }, event.step.error));
    else if (
      event.kind === "step" &&
      event.step.reply.message.content?.trim() &&
      event.step.reply.message.tool_calls.length
    )
      this.add(event.agent, el("span", {}, event.step.reply.message.content.trim().split("\n")[0] ?? ""));
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
    (name): name is string => typeof name === "string" && !name.startsWith("@"),
  );
}

/** The steps of a proof or the walk of an agent, played on the picture, each with what it found. */

import { post } from "./api";
import { byId, el } from "./dom";
import type { Content, LayeredNode } from "./layers";
import { unique, type Picture } from "./picture";
import type { Subgraph } from "./records";
import type { Walked } from "./steps";
import { number, say } from "./texts";

const STEP_MILLISECONDS = 1800,
  MOST_NODES = 300,
  NAMES = 3;

/** Return the steps of a proof: from the names to the answers, column by column. */
export function walkOf({ columns, edges }: Content): Walked[] {
  const column = new Map(columns.flatMap(({ nodes }, at) => nodes.map(({ id }) => [id, at] as const)));
  return [...columns.keys()].slice(0, -1).reverse().map((at) => {
    const joined = new Set<string>();
    for (const { source, target } of edges)
      for (const [near, far] of [[source, target], [target, source]] as const)
        if (column.get(near) === at && (column.get(far) ?? -1) > at) joined.add(far);
    const from = columns.slice(at + 1).flatMap(({ title, nodes }) => {
      const own = nodes.filter(({ id }) => joined.has(id));
      return own.length > NAMES && title !== say("named") ? `${number(own.length)} ${title}` : listed(own.map(({ name }) => name));
    });
    const { title, nodes } = columns[at]!,
      names = from.filter(Boolean).join(", "),
      whole = title === say("answers") ? say("foundAnswers", { n: nodes.length }) : title;
    const words = at ? say("stepProof", { names, found: `${number(nodes.length)} ${title}` }) : `${names}: ${whole}`;
    const call = { id: "", name: "", arguments: "" };
    return { agent: null, call, text: "", references: [...joined], nodes: nodes.map(({ id }) => id), words };
  });
}

const listed = (names: readonly string[]): string =>
  names.slice(0, NAMES).join(", ") + (names.length > NAMES ? ` ${say("andOthers", { n: names.length - NAMES })}` : "");

export class Replay {
  private readonly box = byId("replay");
  private readonly starter = byId<HTMLButtonElement>("replay-start");
  private readonly told = el("p", { "aria-live": "polite" });
  /** How many of what a step found are in the picture: a tool lists the first of them alone. */
  private readonly count = el("span", { class: "dim" });
  private readonly player = this.button("▶", "play", () => this.play(this.timer === null), "player");
  private readonly earlier = this.button("←", "stepBack", () => this.go(this.at - 1), "previous");
  private readonly later = this.button("→", "stepOn", () => this.go(this.at + 1), "next");
  private walk: readonly Walked[] = [];
  private known = new Map<string, string>();
  private content: Content | null = null;
  private timer: number | null = null;
  private at = 0;

  constructor(private readonly uses: { graph: () => string; picture: Picture; wording: (step: Walked) => string; failed: (error: unknown) => void }) {
    this.starter.onclick = () => void this.start().catch(uses.failed);
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches; // then it is walked by hand alone
    const closing = this.button("✕", "close", () => this.leave(), "closing");
    this.box.append(el("span", { class: "row" }, this.earlier, isCalm ? null : this.player, this.later, closing), this.told, this.count);
  }

  /** Offer a walk to be played, where it found anything. */
  offer(walk: readonly Walked[]): void {
    this.clear();
    this.walk = walk;
    this.starter.hidden = !walk.some((step) => step.nodes.length);
  }

  clear(): void {
    this.play(false);
    this.walk = [];
    this.content = null;
    this.box.hidden = this.starter.hidden = true;
  }

  private async start(): Promise<void> {
    const { walk } = this,
      named = [...new Set(walk.flatMap((step) => [...step.references, ...step.nodes]))].slice(0, MOST_NODES);
    const found = await post<Subgraph>("api/subgraph", { graph: this.uses.graph(), nodes: named });
    if (walk !== this.walk) return;
    this.known = new Map(found.nodes.flatMap(({ id, name }) => [[id, id], [name, id]] as const));
    this.content = this.inColumns(found);
    this.uses.picture.show(this.content, unique([...this.content.edges, ...found.edges]).length - this.content.edges.length);
    this.box.hidden = false;
    this.starter.hidden = true;
    this.go(0);
    this.later.focus();
  }

  /** Show the picture as it was. */
  private leave(): void {
    const { walk } = this;
    this.uses.picture.back();
    this.offer(walk);
    this.starter.focus();
  }

  private play(isPlaying: boolean): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    if (isPlaying) {
      if (this.at === this.walk.length - 1) this.go(0);
      this.timer = window.setInterval(() => this.go(this.at + 1), STEP_MILLISECONDS);
    }
    this.player.textContent = isPlaying ? "❚❚" : "▶";
    this.player.setAttribute("aria-label", say(isPlaying ? "pause" : "play"));
  }

  private go(at: number): void {
    const step = this.walk[at];
    if (!step || !this.content) return;
    this.at = at;
    if (at === this.walk.length - 1) this.play(false);
    this.earlier.disabled = at === 0;
    this.later.disabled = at === this.walk.length - 1;
    const isWide = new Set(this.walk.map(({ agent }) => agent)).size > 1 && step.agent !== null;
    const who = isWide ? `${say("agent", { n: (step.agent ?? 0) + 1 })} · ` : "";
    this.told.replaceChildren(
      el("span", { class: "dim" }, `${say("shownOf", { n: at + 1, all: this.walk.length })} · ${who}`),
      this.uses.wording(step),
    );
    const found = this.ids(step.nodes).size;
    this.count.textContent = found ? say("litHere", { n: found }) : "";
    this.uses.picture.layers.light(this.lit(step));
  }

  /** Return what a step went out from and found, and what lies between the two; at the end all. */
  private lit(step: Walked): Set<string> | null {
    const from = this.ids(step.references),
      found = this.ids(step.nodes);
    if (!from.size && !found.size) return null;
    const beside = (ids: ReadonlySet<string>) =>
      new Set((this.content?.edges ?? []).flatMap(({ source, target }) => (ids.has(source) ? [target] : ids.has(target) ? [source] : [])));
    const [near, far] = [beside(from), beside(found)];
    return new Set([...from, ...found, ...[...near].filter((id) => far.has(id))]);
  }

  private ids(references: readonly string[]): Set<string> {
    return new Set(references.map((one) => this.known.get(one)).filter((id) => id !== undefined));
  }

  /** Return the proof with what else was found at its right; without a proof a column for each step. */
  private inColumns(found: Subgraph): Content {
    const { proof } = this.uses.picture,
      nodes = new Map(found.nodes.map((node): [string, LayeredNode] => [node.id, { ...node, about: "" }]));
    const isProved = proof.paths.size > 0 && [...proof.paths.values()].some((path) => path.length);
    const columns = isProved ? proof.columns.map(({ title, nodes }) => ({ title, nodes: [...nodes] })) : [],
      placed = new Set(columns.flatMap((column) => column.nodes.map((node) => node.id))),
      added = new Set<string>();
    const beside = { title: say("onTheWay"), nodes: [] as LayeredNode[] };
    for (const step of this.walk)
      for (const references of [step.references, step.nodes]) {
        const fresh = [...this.ids(references)].filter((id) => !placed.has(id)).flatMap((id) => nodes.get(id) ?? []);
        for (const node of fresh) placed.add(node.id);
        if (isProved) beside.nodes.push(...fresh);
        else if (fresh.length) columns.push({ title: [...new Set(fresh.map(({ type }) => type))].slice(0, 2).join(" · "), nodes: fresh });
        for (const node of fresh) for (const id of this.ids(step.references)) added.add(`${node.id} ${id}`).add(`${id} ${node.id}`);
      }
    if (beside.nodes.length) columns.push(beside);
    const column = new Map(columns.flatMap(({ nodes }, at) => nodes.map((node) => [node.id, at] as const)));
    const edges = found.edges.filter((edge) =>
      isProved ? added.has(`${edge.source} ${edge.target}`) : column.get(edge.source) !== column.get(edge.target),
    );
    return { columns, edges: unique([...(isProved ? proof.edges : []), ...edges]), paths: proof.paths };
  }

  private button(sign: string, name: "play" | "stepBack" | "stepOn" | "close", onclick: () => void, kind: string): HTMLButtonElement {
    return el("button", { class: `quiet ${kind}`, type: "button", "aria-label": say(name), title: say(name), onclick }, sign);
  }
}

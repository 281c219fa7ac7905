/** The page: one question at a time, from the box to the picture. */

import { Acts } from "./acts";
import { Answer, spentOn } from "./answer";
import { ask, get, post, Refused, Unreachable } from "./api";
import { Cards } from "./cards";
import { byId, el } from "./dom";
import { showEarlier } from "./earlier";
import { FacetList, type Filters } from "./facets";
import { askedBy, fragment, keep, told, turns, type Asked, type Turn } from "./history";
import { answers, isUnderWay, isWhole, showMaking, showWhole } from "./making";
import { forgetColors } from "./palette";
import { Panel } from "./panel";
import { Picture } from "./picture";
import { isUnread, type Facets, type Happening, type Hit, type Result } from "./records";
import {
  askForKey,
  NO_GRAPH,
  NOTHING_SERVED,
  openDoor,
  showGraph,
  showServed,
  type Served,
  type ServedGraph,
} from "./served";
import { setUpKeys, setUpLanguage, setUpTabs, setUpTheme } from "./shell";
import { holds, welcome } from "./start";
import { Replay } from "./replay";
import { Steps } from "./steps";
import { language, say } from "./texts";

const HITS = 20;
const LOOK_AGAIN_MILLISECONDS = 2000;

export class App {
  private served = NOTHING_SERVED;
  private graph = NO_GRAPH;
  private waiting = {};
  private hasNews = false; // all of the graph is there, and what was asked before was not asked again
  private filters: Filters = { node_types: [], where: [] };
  private asked: Asked | null = null;
  /** The question as it was asked of the graph: one that follows others is put in words of its own. */
  private understood: string | null = null;
  /** What was asked of this graph since the page was opened: a question may follow it. */
  private conversation: Turn[] = [];
  private running: AbortController | null = null;
  private readonly question = byId<HTMLTextAreaElement>("question");
  private readonly method = byId<HTMLSelectElement>("method");
  private readonly type = byId<HTMLSelectElement>("type");
  private readonly steps = new Steps();
  private entering: Promise<void> = Promise.resolve();
  private readonly facets = new FacetList((filters) => this.narrow(filters));
  private readonly acts = new Acts({
    hasFeedback: () => this.served.has_feedback,
    asked: () => this.asked && { ...this.asked, question: this.understood ?? this.asked.question },
    failed: (error) => this.fail(error),
  });
  private readonly cards = new Cards({
    pick: (id) => this.pick(id),
    openPlace: (hit) => this.openPlace(hit),
    edgeName: (type) => this.edgeName(type),
    mark: (id) => this.mark(id),
    thumbs: (nodes) => this.acts.thumbs(nodes),
  });
  private readonly answer = new Answer({
    toCard: (id) => this.cards.show(id),
    toPlace: (id) => this.toPlace(id),
    placeOf: (id) => this.cards.placeOf(id),
    pick: (id) => this.pick(id),
    askReading: (reading) => void this.ask({ ...this.wanted(), reading }),
    askInstead: (word, near) =>
      this.askWords(word && this.question.value.includes(word) ? this.question.value.replace(word, near) : near),
  });
  private readonly panel = new Panel({
    graph: () => this.graph.name,
    edgeName: (type) => this.edgeName(type),
    pick: (id) => this.pick(id),
    grow: (page) => {
      const nodes = page.hits.map((hit) => ({ ...hit, degree: 1 })),
        edges = page.hits.flatMap((hit) => hit.edges);
      const grown = this.picture.grow(nodes, edges, page.node);
      void grown.then(() => this.mark(null)).catch((error) => this.fail(error));
    },
    closed: () => {
      this.current = null;
      this.cards.current(null, "aria-current");
      this.picture.resize();
      this.picture.mark(null);
    },
    askAbout: (name) => {
      this.question.value = `${this.question.value.trim()} ${name}`.trim();
      this.showSide("asking");
      this.question.focus();
    },
  });
  private readonly picture = new Picture({
    graph: () => this.graph.name,
    question: () => this.asked?.question ?? "",
    edgeName: (type) => this.edgeName(type),
    pick: (id) => (id === null ? this.panel.close() : this.pick(id)),
    hover: (id) => this.cards.current(id, "data-hover"),
  });
  private readonly replay = new Replay({
    graph: () => this.graph.name,
    picture: this.picture,
    wording: (step) => this.steps.wording(step),
    failed: (error) => this.fail(error),
  });
  private current: string | null = null;
  private readonly showSide = setUpTabs(() => this.picture.resize());

  /** Set the page up, learn what the server has, and ask what the address asks. */
  async start(): Promise<void> {
    setUpLanguage();
    setUpTheme(() => this.picture.restyle());
    setUpKeys({
      fit: () => this.picture.fit(),
      leave: () => (this.running ? this.running.abort() : this.panel.close()),
    });
    byId<HTMLFormElement>("form").onsubmit = (event) => {
      event.preventDefault();
      if (this.running) this.running.abort();
      else this.askBox();
    };
    this.question.onkeydown = (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        this.askBox();
      }
    };
    this.type.onchange = () => {
      this.filters = { ...this.filters, node_types: this.type.value ? [this.type.value] : [] };
      this.facets.showFilters(this.filters);
    };
    byId<HTMLSelectElement>("graph").onchange = ({ target }) => this.take((target as HTMLSelectElement).value);
    window.addEventListener("hashchange", () => this.goTo(location.hash));
    window.addEventListener("resize", () => this.picture.resize());
    this.question.focus();
    await (this.entering = this.enter());
  }

  private async enter(): Promise<void> {
    try {
      this.served = await get<Served>("api/graphs");
    } catch (error) {
      const isLocked = error instanceof Refused && error.status === 401;
      if (!isLocked) this.fail(error);
      else if (askForKey(() => void this.enter())) this.fail(new Error(say("wrongKey")));
      return;
    }
    openDoor(true);
    byId("error").hidden = true;
    showServed(this.served);
    if (!this.served.graphs.length) this.fail(new Error(say("noGraphs")));
    else if (!this.follow(location.hash)) this.take(this.served.graphs[0]?.name ?? "");
  }

  // ------------------------------------------------------------------------------------------------------- the graph

  /** Turn to a graph: what it holds, and what it may be asked. */
  private take(name: string): void {
    const graph = this.served.graphs.find((served) => served.name === name);
    if (!graph || graph.name === this.graph.name) return;
    this.running?.abort();
    this.graph = graph;
    this.conversation = [];
    forgetColors();
    this.filters = { node_types: [], where: [] };
    showGraph(graph, this.served.graphs.length === 1);
    this.empty();
    void this.waitFor(graph);
  }

  /** Show what a graph holds, and how far its making has come, and look again until it is whole. */
  private async waitFor(graph: ServedGraph): Promise<void> {
    const mine = (this.waiting = {});
    let isLost = false;
    this.hasNews = false;
    showMaking(graph);
    if (answers(graph)) void this.welcome(graph);
    while (isUnderWay(graph)) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MILLISECONDS));
      if (mine !== this.waiting) return;
      try {
        this.served = await get<Served>("api/graphs");
        if (isLost) byId("error").hidden = true;
        isLost = false;
      } catch (error) {
        this.fail(error);
        isLost = true;
        continue;
      }
      const now = this.served.graphs.find((served) => served.name === graph.name);
      if (now && mine === this.waiting) this.renew(graph, now);
    }
  }

  /** Show what has become of a graph while it is made; what was asked of it meanwhile stays. */
  private renew(graph: ServedGraph, now: ServedGraph): void {
    const { generation, is_partial: wasPartial, labels } = graph;
    Object.assign(graph, now, { labels: { ...labels, ...now.labels } });
    if (graph.generation !== generation) {
      showGraph(graph, this.served.graphs.length === 1);
      if (answers(graph) && !this.asked) void this.welcome(graph);
    }
    this.hasNews ||= wasPartial && graph.is_ready && this.asked !== null;
    if (this.hasNews) showWhole(() => void this.ask(this.wanted()));
    else showMaking(graph);
  }

  /** Show what a graph holds and what it may be asked, unless a question was asked meanwhile. */
  private async welcome(graph: ServedGraph): Promise<void> {
    const box = byId("start");
    const held = holds(graph.node_types);
    box.replaceChildren(held);
    try {
      const parts = await welcome(graph, (question) => this.askWords(question));
      if (graph === this.graph && !this.asked && box.contains(held)) box.append(...parts);
    } catch (error) {
      this.fail(error);
    }
  }

  private edgeName(type: string): string {
    return this.graph.labels[type] ?? type.replaceAll("_", " ");
  }

  // ---------------------------------------------------------------------------------------------------- the question

  /** Return the question in the box with the options beside it. */
  private wanted(): Asked {
    return {
      graph: this.graph.name,
      question: this.question.value.trim(),
      method: this.method.value,
      reading: null,
      ...this.filters,
    };
  }

  /** Ask what stands in the box, once it is known what the server has. */
  private askBox(): void {
    void this.entering.then(() => (this.graph.name ? this.ask(this.wanted()) : undefined));
  }

  private askWords(question: string): void {
    this.question.value = question;
    void this.ask(this.wanted());
  }

  /** Ask again with other filters; the reading that a person wrote stays. */
  private narrow(filters: Filters): void {
    this.filters = filters;
    this.type.value = filters.node_types.length === 1 ? (filters.node_types[0] ?? "") : "";
    void this.ask({ ...this.wanted(), reading: this.asked?.reading ?? null });
  }

  /** Put a question into the address, which is the link to it; Back leads to the one before. */
  private address(asked: Asked): void {
    if (fragment(asked) !== location.hash) history.pushState(null, "", fragment(asked));
  }

  /** Show what the address asks after Back or Forward: what was answered is kept, and not asked again. */
  private goTo(hash: string): void {
    const kept = turns().find((turn) => fragment(turn.asked) === hash);
    if (kept) this.reopen(kept);
    else if (!this.follow(hash) && !hash) {
      this.empty();
      if (answers(this.graph)) void this.welcome(this.graph);
    }
  }

  /** Fill in what a link asks, and ask it; where a model would be paid for it, that is for a person to begin. */
  private follow(hash: string): boolean {
    const asked = askedBy(hash);
    const name = asked?.graph || this.served.graphs[0]?.name;
    if (!asked || !this.served.graphs.some((graph) => graph.name === name)) return false;
    this.take(name ?? "");
    this.put({ ...asked, graph: name ?? "" });
    const kept = turns().find((turn) => fragment(turn.asked) === hash);
    if (this.served.model === null) void this.ask({ ...this.wanted(), reading: asked.reading });
    else if (kept) this.reopen(kept);
    return true;
  }

  /** Put a question and its options into the form. */
  private put({ question, method, node_types, where }: Asked): void {
    this.question.value = question;
    if (this.served.methods.includes(method)) this.method.value = method;
    this.filters = { node_types, where };
    this.type.value = node_types.length === 1 ? (node_types[0] ?? "") : "";
    this.facets.showFilters(this.filters);
  }

  private empty(): void {
    this.asked = this.understood = null;
    for (const id of ["error", "found", "nothing"]) byId(id).hidden = true;
    byId("start").replaceChildren();
    byId("spent").replaceChildren();
    this.acts.clear();
    this.answer.clear();
    this.steps.clear();
    this.replay.clear();
    this.facets.clear();
    this.cards.clear();
    this.panel.close();
    this.picture.clear();
    this.facets.showFilters(this.filters);
    this.showEarlier();
  }

  private async ask(asked: Asked): Promise<void> {
    if (!asked.question) {
      this.question.focus();
      return;
    }
    this.running?.abort();
    const mine = (this.running = new AbortController());
    if (this.hasNews) showMaking(this.graph);
    this.hasNews = false;
    this.empty();
    this.asked = asked;
    this.address(asked);
    this.cards.wait();
    this.showRunning(true);
    try {
      const result = await this.listen(asked, mine);
      if (result) await this.finish({ at: Date.now(), asked, result, hits: [...this.cards.all] }, mine.signal);
      else if (!mine.signal.aborted) throw new Error(say("cutOff"));
    } catch (error) {
      if (!mine.signal.aborted) this.fail(error);
    } finally {
      if (mine.signal.aborted && mine === this.running) byId("spent").textContent = say("stopped");
      if (mine === this.running) {
        this.running = null;
        this.cards.stopWaiting();
        this.showRunning(false);
      }
    }
  }

  /** Show what happens to a question until it ends; return its result, null where it broke off. */
  private async listen(asked: Asked, mine: AbortController): Promise<Result | null> {
    const { graph, question, method, node_types, where, reading } = asked;
    const body = {
      graph,
      question,
      k: HITS,
      node_types,
      where,
      ...(method ? { method } : {}),
      ...(reading === null ? this.history(question) : { reading }),
    };
    for await (const event of ask(body, mine.signal)) {
      if (mine !== this.running) return null;
      if (event.kind === "done") return event.result;
      if (event.kind === "error") throw new Error(event.error.message);
      this.hear(event);
    }
    return null;
  }

  /** Return what was asked before a question, which does not follow itself where it is asked anew. */
  private before(question: string): Turn[] {
    return this.conversation.filter((turn) => turn.asked.question !== question);
  }

  /** Return the same in short, where a model reads it. */
  private history(question: string): { history?: ReturnType<typeof told> } {
    const before = this.before(question);
    return this.served.model === null || !before.length ? {} : { history: told(before) };
  }

  private hear(event: Happening): void {
    if (event.kind === "hit") this.cards.add(event.hit);
    else if (event.kind === "answer_part") this.answer.hear(event.text);
    else if (event.kind === "answer") this.answer.say(event.answer);
    else this.steps.hear(event);
  }

  private async finish(turn: Turn, signal: AbortSignal): Promise<void> {
    keep(turn);
    this.conversation = [...this.before(turn.asked.question), turn];
    this.showTurn(turn);
    this.showRunning(false);
    await this.addBeside(turn, signal);
  }

  /** Add what the graph says of the hits: the picture and the facets. */
  private async addBeside({ asked, hits: found, result }: Turn, signal: AbortSignal): Promise<void> {
    const hits = isUnread(result) ? [] : found;
    const nodes = hits.map((hit) => hit.id),
      counted = nodes.length ? post<Facets>("api/facets", { graph: asked.graph, nodes }, signal) : null;
    const { text = null, total = null } = result.reading ?? {},
      named = hits.length ? this.steps.named : [];
    const drawn = this.picture.draw(hits, named, signal, total, text?.startsWith("path ") ?? false);
    const [, facets] = await Promise.all([drawn, counted]);
    if (this.asked !== asked) return;
    this.steps.learn([...hits, ...hits.flatMap((hit) => hit.ends ?? []), ...this.picture.known]);
    this.replay.offer(hits.length ? this.steps.walked : []);
    if (facets) this.facets.show(facets, this.filters);
  }

  private fail(error: unknown): void {
    const box = byId("error"),
      wait = error instanceof Refused ? error.seconds : null;
    box.replaceChildren(
      error instanceof Unreachable ? say("unreachable") : error instanceof Error ? error.message : String(error),
      wait === null ? "" : ` ${say("retry", { n: wait })}`,
    );
    box.hidden = false;
  }

  private showRunning(isRunning: boolean): void {
    const button = byId("ask");
    button.textContent = say(isRunning ? "stop" : "ask");
    button.classList.toggle("stop", isRunning);
    byId("asking").setAttribute("aria-busy", String(isRunning));
  }

  // ------------------------------------------------------------------------------------------------------ the result

  /** Show everything that a result says. */
  private showTurn(turn: Turn): void {
    const { result, hits } = turn;
    this.understood = result.question;
    this.answer.show(turn.asked.question, result, hits);
    this.steps.fold();
    if (result.reading?.complete) this.cards.divide(!hits.some((hit) => hit.complete));
    this.cards.stopWaiting();
    if (!hits.length) this.cards.clear();
    else if (isUnread(result)) this.cards.fold();
    byId("found").textContent = say("found", { n: hits.length });
    byId("found").hidden = !hits.length || isUnread(result);
    byId("nothing").textContent = say(isWhole(this.graph) ? "nothing" : "nothingSoFar");
    byId("nothing").hidden = hits.length > 0 || result.answer !== null;
    this.acts.show(turn);
    byId("spent").replaceChildren(el("p", {}, spentOn(result)), ...result.notes.map((note) => el("p", {}, note)));
    this.showEarlier();
  }

  // ------------------------------------------------------------------------------------------------- looking at nodes

  private pick(id: string): void {
    this.current = id;
    this.cards.current(id, "aria-current");
    void this.panel.show(id).then(() => {
      this.picture.resize();
    });
    this.picture.resize();
    this.picture.focus(id);
    this.showSide("seeing");
  }

  private openPlace(hit: Hit): void {
    this.current = hit.id;
    this.cards.current(hit.id, "aria-current");
    void this.panel.showPlace(hit);
    this.picture.resize();
    this.picture.focus(hit.id);
    this.showSide("seeing");
  }

  /** Open a passage that is quoted. */
  private toPlace(id: string): void {
    const hit = this.cards.all.find((hit) => hit.id === id);
    if (hit) this.openPlace(hit);
    else this.pick(id);
  }

  private mark(id: string | null): void {
    this.picture.mark(id ?? this.current, id === null);
  }

  // ------------------------------------------------------------------------------------------------ the conversation

  private showEarlier(): void {
    const now = JSON.stringify(this.asked);
    const isServed = (turn: Turn) => this.served.graphs.some((graph) => graph.name === turn.asked.graph);
    showEarlier(
      (turn) => isServed(turn) && JSON.stringify(turn.asked) !== now,
      (turn) => this.reopen(turn),
      () => (this.conversation = []),
    );
  }

  /** Show an earlier turn as it was, without asking anything. */
  private reopen(turn: Turn): void {
    this.running?.abort();
    this.running = null;
    this.take(turn.asked.graph);
    this.put(turn.asked);
    this.empty();
    this.asked = turn.asked;
    this.address(turn.asked);
    for (const hit of turn.hits) this.cards.add(hit);
    this.showTurn(turn);
    const when = new Date(turn.at).toLocaleString(language);
    byId("spent").append(
      el(
        "p",
        {},
        say("kept", { when }),
        " ",
        el("button", { class: "link", onclick: () => void this.ask(turn.asked) }, say("again")),
      ),
    );
    byId("asking").scrollTop = 0;
    this.addBeside(turn, new AbortController().signal).catch((error) => this.fail(error));
  }
}

/** The page: one question at a time, from the box to the picture. */

import { Acts } from "./acts";
import { Answer, foundIn, messageOf, spentOn } from "./answer";
import { ask, get, post, Refused } from "./api";
import { Cards } from "./cards";
import { DocumentView, isPassage, linkedPlace, placeIn, withoutPlace, withPlace, type Place } from "./document";
import { byId, Characters, el } from "./dom";
import { showEarlier } from "./earlier";
import { FacetList, type Filters } from "./facets";
import { askedBy, fragment, graphIn, keep, told, turns, type Asked, type Turn } from "./history";
import { answers, isUnderWay, isWhole, showMaking, showWhole } from "./making";
import { forgetColors, rankColors } from "./palette";
import { Panel } from "./panel";
import { Picture } from "./picture";
import { isUnread, kindOf, type Facets, type Happening, type Hit, type Overview, type Result, type SchemaView } from "./records";
import { Further } from "./roads";
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
import { Replay, walkOf } from "./replay";
import { drawSchema, hideSchema, tries, welcome } from "./start";
import { Steps } from "./steps";
import { AllAnswers, wholeOf } from "./table";
import { language, say } from "./texts";

const NO_MODEL = "no model is configured"; // begins a note of the server
const HITS = 20,
  OFFERED = 3; // questions
const LOOK_AGAIN_MILLISECONDS = 2000;

export class App {
  private served = NOTHING_SERVED;
  private graph = NO_GRAPH;
  private waiting = {};
  private hasNews = false; // all of the graph is there, and what was asked before was not asked again
  private filters: Filters = { node_types: [], where: [] };
  /** The question that the filters narrow; those of another one end with it, but for a type that a person set by hand. */
  private narrowed = "";
  private typeByHand = "";
  private asked: Asked | null = null;
  /** The question as it was asked of the graph: one that follows others is put in words of its own. */
  private understood: string | null = null;
  /** What was asked of this graph since the page was opened: a question may follow it. */
  private conversation: Turn[] = [];
  private running: AbortController | null = null;
  /** What is shown, which stays until another question has something to show. */
  private shown: Turn | null = null;
  private isBegun = false;
  private early: Happening[] = []; // notes of a question that has nothing to show yet
  private readonly question = byId<HTMLTextAreaElement>("question");
  private readonly method = byId<HTMLSelectElement>("method");
  private readonly type = byId<HTMLSelectElement>("type");
  private readonly steps = new Steps();
  private entering: Promise<void> = Promise.resolve();
  private readonly facets = new FacetList(
    (filters) => this.narrow(filters),
    (reading) => this.askLine(reading),
  );
  private readonly all = new AllAnswers({
    pick: (id) => this.pick(id),
    add: (hits) => this.addHits(hits),
    failed: (error) => this.fail(error),
  });
  private readonly acts = new Acts({
    hasFeedback: () => this.served.has_feedback,
    asked: () => this.asked && { ...this.asked, question: this.understood ?? this.asked.question },
    failed: (error) => this.fail(error),
    files: (turn) => this.all.acts(turn),
  });
  private readonly cards = new Cards({
    pick: (id) => this.pick(id),
    openPlace: (hit) => this.openPlace(placeIn(hit)),
    edgeName: (type) => this.edgeName(type),
    mark: (id) => this.mark(id),
    thumbs: (nodes) => this.acts.thumbs(nodes),
  });
  private readonly answer = new Answer({
    toCard: (id) => this.cards.show(id),
    toPlace: (id, quote) => this.toPlace(id, quote),
    placeOf: (id) => this.cards.placeOf(id),
    pick: (id) => this.pick(id),
    askReading: (reading) => void this.ask({ ...this.wanted(), reading }),
    askLine: (reading) => this.askLine(reading),
    askUnfiltered: () => this.narrow({ node_types: [], where: [] }),
    askInstead: (word, near) =>
      this.askWords(word && this.question.value.includes(word) ? this.question.value.replace(word, near) : near),
  });
  private readonly further = new Further({
    methods: () => this.served.methods,
    isServed: (asked) => this.isServed(asked),
    pick: (id) => this.pick(id),
    ask: (asked) => this.askAgain(asked),
    failed: (error) => this.fail(error),
  });
  private readonly panel = new Panel({
    graph: () => this.graph.name,
    edgeName: (type) => this.edgeName(type),
    pick: (id) => this.pick(id),
    openDocument: (id) => this.openPlace({ id, range: null, words: [] }),
    grow: (page, of) => {
      const nodes = [of, ...page.hits.map((hit) => ({ ...hit, degree: 1 }))], // of what was not drawn, too
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
  private readonly documents = new DocumentView({
    graph: () => this.graph.name,
    opened: () => this.panel.close(),
    closed: () => this.picture.resize(),
    toGraph: () => this.leavePlace(),
  });
  /** The place that a link opens once its question is answered. */
  private linked: Place | null = null;
  private readonly replay = new Replay({
    graph: () => this.graph.name,
    picture: this.picture,
    wording: (step) => this.steps.wording(step),
    failed: (error) => this.fail(error),
  });
  private current: string | null = null;
  private turn: Turn | null = null;
  private readonly showSide = setUpTabs(() => {
    this.picture.resize();
    this.documents.shown();
  });

  /** Set the page up, learn what the server has, and ask what the address asks. */
  async start(): Promise<void> {
    setUpLanguage();
    setUpTheme(() => this.picture.restyle());
    setUpKeys({
      fit: () => this.picture.fit(),
      leave: () => {
        if (this.running) this.running.abort();
        else if (this.panel.isOpen) this.panel.close();
        else if (this.documents.isOpen) this.leavePlace();
      },
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
      this.typeByHand = this.type.value;
      this.filters = { ...this.filters, node_types: this.type.value ? [this.type.value] : [] };
      this.facets.showFilters(this.filters);
    };
    byId<HTMLSelectElement>("graph").onchange = ({ target }) => {
      this.take((target as HTMLSelectElement).value);
      history.pushState(null, "", `#${new URLSearchParams({ graph: this.graph.name })}`);
    };
    byId("reopen").onclick = () => this.documents.again();
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
    else if (!this.follow(location.hash)) {
      this.take(this.startOf(location.hash));
      this.tellUnknown(location.hash);
    }
  }

  /** Say that a link names a graph that is not served. */
  private tellUnknown(hash: string): void {
    const name = graphIn(hash);
    if (name && !this.served.graphs.some((graph) => graph.name === name))
      this.fail(new Error(say("unknownGraph", { name })));
  }

  /** Return the graph whose start a link without a question leads to: the one that it names, else the first. */
  private startOf(hash: string): string {
    const graphs = this.served.graphs;
    return (graphs.find((graph) => graph.name === graphIn(hash)) ?? graphs[0])?.name ?? "";
  }

  // ------------------------------------------------------------------------------------------------------- the graph

  /** Turn to a graph: what it holds, and what it may be asked. */
  private take(name: string): void {
    const graph = this.served.graphs.find((served) => served.name === name);
    if (!graph || graph.name === this.graph.name) return;
    this.running?.abort();
    this.graph = graph;
    this.conversation = [];
    rankColors(graph.node_types);
    this.filters = { node_types: [], where: [] };
    this.typeByHand = this.narrowed = "";
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
      if (!this.asked) rankColors(graph.node_types);
      if (answers(graph) && !this.asked) void this.welcome(graph);
    }
    this.hasNews ||= wasPartial && graph.is_ready && this.asked !== null;
    if (this.hasNews) showWhole(() => void this.ask(this.wanted()));
    else showMaking(graph);
  }

  /** Show what a graph is about and what it may be asked, unless a question was asked meanwhile. */
  private async welcome(graph: ServedGraph): Promise<void> {
    try {
      await welcome(
        graph,
        (question, reading) => this.askWords(question, reading),
        () => graph === this.graph && !this.asked,
      );
    } catch (error) {
      if (graph === this.graph) this.fail(error);
    }
  }

  private edgeName(type: string): string {
    return this.graph.labels[type] ?? type.replaceAll("_", " ");
  }

  // ---------------------------------------------------------------------------------------------------- the question

  /** Return the question in the box with the options beside it. */
  private wanted(): Asked {
    const question = this.question.value.trim();
    return {
      graph: this.graph.name,
      question,
      method: this.method.value,
      reading: question === this.asked?.reading ? question : null, // a line that a bar or a neighbour asked
      ...this.filters,
    };
  }

  /** Ask what stands in the box, once it is known what the server has. */
  private askBox(): void {
    void this.entering.then(() => {
      if (!this.graph.name) return;
      this.widen();
      void this.ask(this.wanted());
    });
  }

  /** Take away the filters of another question; a type that was set by hand stays. */
  private widen(): void {
    if (this.question.value.trim() === this.narrowed) return;
    this.filters = { node_types: this.typeByHand ? [this.typeByHand] : [], where: [] };
    this.type.value = this.typeByHand;
    this.facets.showFilters(this.filters);
  }

  /** Ask a line that a bar or a neighbour stands for: the box says what is asked now. */
  private askLine(reading: string): void {
    this.question.value = this.narrowed = reading;
    void this.ask({ ...this.wanted(), reading });
  }

  private askWords(question: string, reading: string | null = null): void {
    this.question.value = question;
    this.showSide("asking");
    this.widen();
    void this.ask({ ...this.wanted(), reading });
  }

  /** Ask a question that was saved, with its options, of its graph. */
  private askAgain(asked: Asked): void {
    this.take(asked.graph);
    this.put(asked);
    void this.ask({ ...this.wanted(), reading: asked.reading });
  }

  /** Ask again with other filters; the reading that a person wrote stays. */
  private narrow(filters: Filters): void {
    this.keepFilters(filters);
    void this.ask({ ...this.wanted(), reading: this.asked?.reading ?? null });
  }

  private keepFilters(filters: Filters): void {
    this.filters = filters;
    this.narrowed = this.question.value.trim();
    this.type.value = filters.node_types.length === 1 ? (filters.node_types[0] ?? "") : "";
    if (this.type.value !== this.typeByHand) this.typeByHand = "";
  }

  /** Put a question into the address, which is the link to it; Back leads to the one before. */
  private address(asked: Asked): void {
    if (fragment(asked) !== withoutPlace(location.hash)) history.pushState(null, "", fragment(asked));
  }

  /** Show what the address asks after Back or Forward: what was answered is kept, and not asked again. */
  private goTo(hash: string): void {
    const question = withoutPlace(hash),
      kept = turns().find((turn) => fragment(turn.asked) === question);
    this.linked = linkedPlace(hash);
    if (kept && this.asked && fragment(this.asked) === question) this.openBest(kept);
    else if (kept) this.reopen(kept);
    else if (!this.follow(hash)) {
      this.begun(this.startOf(hash));
      this.tellUnknown(hash);
    }
  }

  /** Show the start of a graph. */
  private begun(name: string): void {
    this.running?.abort();
    this.running = null;
    this.showRunning(false);
    this.question.value = "";
    this.keepFilters({ node_types: [], where: [] });
    if (name !== this.graph.name) return this.take(name);
    this.empty();
    if (answers(this.graph)) void this.welcome(this.graph);
  }

  /** Fill in what a link asks, and ask it; where a model would be paid for it, that is for a person to begin. */
  private follow(hash: string): boolean {
    const asked = askedBy(hash);
    const name = graphIn(hash) || this.served.graphs[0]?.name;
    this.linked = linkedPlace(hash);
    if (!(asked || this.linked) || !this.served.graphs.some((graph) => graph.name === name)) return false;
    this.take(name ?? "");
    if (!asked) {
      this.openBest(null);
      return true;
    }
    this.put({ ...asked, graph: name ?? "" });
    const kept = turns().find((turn) => fragment(turn.asked) === withoutPlace(hash));
    if (this.served.model === null) void this.ask({ ...this.wanted(), reading: asked.reading });
    else if (kept) this.reopen(kept);
    return true;
  }

  /** Put a question and its options into the form. */
  private put({ question, method, node_types, where }: Asked): void {
    this.question.value = question;
    if (this.served.methods.includes(method)) this.method.value = method;
    this.keepFilters({ node_types, where });
    this.facets.showFilters(this.filters);
  }

  private empty(): void {
    this.asked = this.understood = this.shown = null;
    for (const id of ["error", "found", "nothing"]) byId(id).hidden = true;
    byId("start").replaceChildren();
    byId("spent").replaceChildren();
    forgetColors();
    hideSchema();
    this.acts.clear();
    this.further.clear();
    this.answer.clear();
    this.steps.clear();
    this.replay.clear();
    this.facets.clear();
    this.cards.clear();
    this.all.clear();
    this.panel.close();
    this.documents.close();
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
    const mine = (this.running = new AbortController()),
      before = this.shown;
    if (this.hasNews) showMaking(this.graph);
    this.hasNews = this.isBegun = false;
    this.early = [];
    byId("error").hidden = true;
    this.answer.failed(null);
    if (!before) this.begin(asked);
    this.showRunning(true);
    try {
      const result = await this.listen(asked, mine);
      if (result) {
        this.begin(asked);
        await this.finish({ at: Date.now(), asked, result, hits: [...this.cards.all] }, mine.signal);
      } else if (!mine.signal.aborted) throw new Error(say("cutOff"));
    } catch (error) {
      if (!mine.signal.aborted) {
        if (before && !this.shown) this.showAgain(before);
        this.fail(error, asked.reading !== null);
      }
    } finally {
      if (mine.signal.aborted && mine === this.running) byId("spent").textContent = say("stopped");
      if (mine === this.running) {
        this.running = null;
        this.cards.stopWaiting();
        this.showRunning(false);
      }
    }
  }

  /** Clear what another question has shown, once this one has something to show. */
  private begin(asked: Asked): void {
    if (this.isBegun) return;
    this.empty();
    this.isBegun = true;
    this.asked = asked;
    this.address(asked);
    this.cards.wait();
    byId("asking").classList.remove("waiting");
    for (const event of this.early) this.hear(event);
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
      if (event.kind === "error") throw Refused.of(event.error);
      if (this.isBegun || (event.kind !== "begin" && event.kind !== "note")) {
        this.begin(asked);
        this.hear(event);
      } else this.early.push(event);
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
    else if (event.kind !== "note" || !event.text.startsWith(NO_MODEL)) this.steps.hear(event);
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
    const kind = kindOf(result),
      hits = isUnread(result) || kind === "groups" ? [] : found;
    const whole = wholeOf(asked, result),
      counted = whole ? post<Facets>("api/facets", whole, signal) : null;
    if (result.table?.kind === "overview") await this.drawSchema(asked);
    if (isUnread(result) && !result.refusal?.questions?.length && !result.refusal?.near.length) await this.offer(asked);
    const total = result.reading?.total ?? null,
      named = hits.length ? this.steps.named : [];
    if (kind === "groups" || isUnread(result)) this.picture.none();
    else if (kind === "cypher" && !hits.length) this.picture.none("noNodes");
    const drawn = this.picture.draw(hits, named, signal, total, kind);
    const [, facets] = await Promise.all([drawn, counted]);
    if (this.asked !== asked) return;
    this.steps.learn([...hits, ...hits.flatMap((hit) => hit.ends ?? []), ...this.picture.known]);
    // What shows that an exact answer is right is its proof, and not the calls of a search for it.
    if (whole && !result.usage.calls) this.steps.prove(kind === "path" ? [] : walkOf(this.picture.proof));
    this.replay.offer(hits.length ? this.steps.walked : []);
    if (facets) this.facets.show(facets, this.filters);
  }

  /** Draw the schema beside what a graph is about. */
  private async drawSchema(asked: Asked): Promise<void> {
    const query = { graph: asked.graph };
    const [about, schema] = await Promise.all([
      get<Overview>("api/overview", { ...query, examples: "false" }),
      get<SchemaView>("api/schema", query),
    ]);
    if (this.asked === asked) drawSchema(schema, about, (question, reading) => this.askWords(question, reading));
  }

  /** Offer questions that have an answer where none could be made of the words that were asked. */
  private async offer(asked: Asked): Promise<void> {
    const { examples } = await get<Overview>("api/overview", { graph: asked.graph });
    if (this.asked !== asked || !examples.length) return;
    const questions = examples.slice(0, OFFERED).map((example) => example.question);
    byId("reading").append(tries(questions, (question) => this.askWords(question)));
  }

  /** Say what went wrong: beneath the reading where one is edited, else below the question. */
  private fail(error: unknown, isOfLine = false): void {
    if (isOfLine && this.answer.failed(error)) return;
    byId("error").textContent = messageOf(error);
    byId("error").hidden = false;
  }

  private showRunning(isRunning: boolean): void {
    const button = byId("ask");
    button.textContent = say(isRunning ? "stop" : "ask");
    button.classList.toggle("stop", isRunning);
    byId("asking").setAttribute("aria-busy", String(isRunning));
    byId("asking").classList.toggle("waiting", isRunning && !this.isBegun);
  }

  // ------------------------------------------------------------------------------------------------------ the result

  /** Show everything that a result says. */
  private showTurn(turn: Turn): void {
    const { result, hits } = turn;
    this.shown = turn;
    this.understood = result.question;
    this.answer.show(turn.asked, result, hits);
    this.steps.fold();
    if (result.reading?.complete) this.cards.divide(!hits.some((hit) => hit.complete));
    this.cards.stopWaiting();
    if (!hits.length) this.cards.clear();
    else if (isUnread(result)) this.cards.fold();
    else if (kindOf(result) === "groups") this.cards.count(result.reading?.total ?? hits.length);
    byId("found").textContent = foundIn(result, hits);
    byId("found").hidden = !hits.length || isUnread(result) || kindOf(result) === "groups";
    byId("nothing").textContent = say(isWhole(this.graph) ? "nothing" : "nothingSoFar");
    byId("nothing").hidden = hits.length > 0 || result.answer !== null;
    this.acts.show(turn);
    this.all.show(turn);
    this.turn = turn;
    this.further.show(turn);
    byId("spent").replaceChildren(el("p", {}, spentOn(result)), ...this.notes(result).map((note) => el("p", {}, note)));
    this.showEarlier();
    this.openBest(turn);
  }

  /** Return what is to be said of a result; that there is no model, and why it has no answer, stands above. */
  private notes({ notes, refusal }: Result): string[] {
    const isTold = (note: string) => note === refusal?.text && !refusal.lines?.length;
    return notes.filter((note) => !isTold(note) && (this.served.model !== null || !note.startsWith(NO_MODEL)));
  }

  /** Add answers behind those that are listed; the picture stays with the first. */
  private addHits(hits: Hit[]): void {
    for (const hit of hits) this.cards.add(hit);
    if (!this.turn) return;
    byId("found").textContent = foundIn(this.turn.result, this.cards.all);
    this.answer.listed(this.turn.result, this.cards.all);
  }

  // ------------------------------------------------------------------------------------------------- looking at nodes

  private pick(id: string): void {
    this.documents.hide();
    this.current = id;
    this.cards.current(id, "aria-current");
    void this.panel.show(id).then(() => {
      this.picture.resize();
    });
    this.picture.resize();
    this.picture.focus(id);
    this.showSide("seeing");
  }

  /** Open a document that a person asked for; Back leads to what was seen before. */
  private openPlace(place: Place): void {
    this.showSide("seeing");
    void this.showPlace(place, true).then(() => {
      const link = withPlace(location.hash, this.graph.name, place);
      if (link !== location.hash) history.pushState(null, "", link);
    });
  }

  private showPlace(place: Place, isAsked: boolean): Promise<void> {
    const shown = this.documents.show(place, isAsked);
    this.current = place.id;
    this.cards.current(place.id, "aria-current");
    return shown;
  }

  /** Open a passage that is quoted. */
  private toPlace(id: string, quote: string): void {
    const hit = this.cards.all.find((hit) => hit.id === id);
    this.openPlace(hit ? placeIn(hit, quote) : { id, range: null, words: [], quote });
  }

  /** Show the place of a link, else the best passage of what was found in documents. */
  private openBest(turn: Turn | null): void {
    const place = this.linked;
    this.linked = null;
    if (place) {
      const hit = turn?.hits.find((hit) => hit.id === place.id);
      this.showSide("seeing");
      void this.showPlace(hit ? { ...place, words: placeIn(hit).words } : place, false);
    } else if (turn && !isUnread(turn.result)) {
      const { answer, citations, refusal } = turn.result,
        cited = citations.find(({ source }) => source !== null),
        hit = turn.hits.find((hit) => !cited || cited.ids.includes(hit.id));
      if (!hit || !isPassage(hit)) return;
      const said = cited?.quote || (cited && new Characters(answer ?? "").part(cited.begin, cited.end));
      const best = placeIn(hit, said);
      void this.showPlace(refusal ? { id: best.id, range: null, words: best.words, isNearest: true } : best, false);
    }
  }

  /** Show the graph in place of a document. */
  private leavePlace(): void {
    this.documents.hide();
    const link = withoutPlace(location.hash);
    if (link !== location.hash) history.pushState(null, "", link || location.pathname);
  }

  private mark(id: string | null): void {
    this.picture.mark(id ?? this.current, id === null);
  }

  // ------------------------------------------------------------------------------------------------ the conversation

  private isServed(asked: Asked): boolean {
    return this.served.graphs.some((graph) => graph.name === asked.graph);
  }

  private showEarlier(): void {
    const now = JSON.stringify(this.asked);
    this.further.showSaved();
    showEarlier(
      (turn) => this.isServed(turn.asked) && JSON.stringify(turn.asked) !== now,
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
    this.showAgain(turn);
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
  }

  /** Show a turn as it was. */
  private showAgain(turn: Turn): void {
    this.empty();
    this.asked = turn.asked;
    this.address(turn.asked);
    for (const hit of turn.hits) this.cards.add(hit);
    this.showTurn(turn);
    this.addBeside(turn, new AbortController().signal).catch((error) => this.fail(error));
  }
}

"""What first passages leave open of a question, and the order it gives; the oracle is the recipe in plain Python."""

import math
import random

import numpy as np
import pytest

from fakes import Answer, FakeServer
from fakes.embedder import WordEmbedder, embedded
from fakes.limits import limits_in
from lanes import seeds
from orienteer.graph import Graph, embed_graph
from orienteer.index import ServedEmbedder
from orienteer.llm import Allowance, Budget, OpenAIConfig
from orienteer.records import Edge, Node
from orienteer.retrieval import Hippo, HippoConfig, Query
from orienteer.text import ASKING_WORDS, STOP_WORDS

pytestmark = pytest.mark.slow

FILMS = [
    Node("film", "chunk", "Night Ferry", "A film by Ada Holm, who is its maker."),
    Node("ada", "chunk", "Ada Holm", "Ada Holm grew up in Hammerfest."),
    Node("wed", "chunk", "Noor Vik", "A spouse of Ada Holm since 1990."),
    *(Node(f"ada{at}", "chunk", f"Prize {at}", f"Ada Holm, maker of films, won prize {at}.") for at in range(6)),
    *(Node(f"wed{at}", "chunk", f"Person {at}", f"A spouse of nobody, number {at}.") for at in range(6)),
]
QUESTION = "Who is the spouse of the maker of Night Ferry?"

WORDS = ["salt", "north", "coast", "rope", "sail", "wind", "stone", "lamp", "bread", "wool", "iron", "clay", "reed"]
FIRST, LAST = ["Ada", "Noor", "Ivar", "Liv", "Sten"], ["Holm", "Vik", "Berg", "Dahl"]


def gathered(graph, question=QUESTION, *, run=None, **options):
    query = Query(question, **limits_in(options))
    return Hippo(graph, HippoConfig(**options)).gather(query, run or Allowance())


def passages(evidence):
    return [one for one in evidence.nodes if one.item.type == "chunk"]


def ids(evidence):
    return [one.item.id for one in passages(evidence)]


# -------------------------------------------------------------------------------------------------------- the recipe


class Recipe:
    """The recipe, one passage after the other, by the walk's scores and the flat ones that `hippo` begins from."""

    def __init__(self, graph, question, k, options):
        options = {"mode": "auto", **options}
        self.hippo = Hippo(graph, HippoConfig(**{**options, "open_words": "off"}))
        self.graph, self.question, self.k = graph, question, k
        self.incidence, self.mode = self.hippo._incidence, self.hippo.spaces.mode
        self.slack = 5e-3 if self.mode != "lexical" else 1e-6  # vectors are kept as halves
        self.meaning = self.mode != "lexical" and options.get("open_words") != "words"
        self.rows = [row for row in range(len(graph)) if graph.arrays.type_at(row) == "chunk"]
        found = passages(self.hippo.gather(Query(question, k=len(graph)), Allowance()))
        walk = {graph.arrays.row(one.item.id): one.score for one in found}
        flat = self.hippo._searcher.scores(question, np.array(self.rows, np.int32)).tolist()
        self.W = {row: score / max(walk.values()) for row, score in walk.items()}
        self.H = {row: max(0.0, score / max(flat)) for row, score in zip(self.rows, flat, strict=True)}
        tokenizer = graph.arrays.tokenizer
        self.terms = {row: set(tokenizer.terms(self.text(row))) for row in self.rows}
        stop = {term for word in STOP_WORDS | ASKING_WORDS for term in tokenizer.expand(word)}
        asked = dict.fromkeys(term for term in tokenizer.terms(question) if term not in stop)
        df = {term: sum(term in self.terms[row] for row in self.rows) for term in asked}
        self.idf = {term: math.log(1 + len(self.rows) / df[term]) for term in asked if df[term]}
        self.tokenizer, self.stop = tokenizer, stop
        self.named = set(self.incidence.find(question).tolist())
        walked = sorted(self.W, key=lambda row: (-self.W[row], row))[: max(60, 3 * k // 2)]
        begun = sorted((row for row in self.W if self.H[row] > 0), key=lambda row: (-self.H[row], row))
        self.pool = sorted({*walked, *begun[: max(20, k // 2)]})
        self.seeds = sorted(self.pool, key=lambda row: (-(math.sqrt(self.W[row]) + self.H[row]), row))[:5]

    def text(self, row):
        node = self.graph.arrays.node_at(row)
        return " ".join((node.name, *node.aliases, node.text))

    def held(self, row):
        return set(self.incidence.held.of(self.rows.index(row)).tolist())

    def titles(self, row):
        place = self.rows.index(row)
        return {name for name in self.held(row) if place in self.incidence.titled.of(name).tolist()}

    def weight(self, name):
        if name in self.named:
            return 0.0
        count = len(self.rows)
        return math.log(1 + count / len(self.incidence.holders.of(name))) / math.log(1 + count / 2)

    def link(self, seed, row):
        if seed == row:
            return 0.0
        titling = [self.weight(name) for name in self.held(seed) & self.titles(row)]
        shared = [0.7 * self.weight(name) for name in self.held(seed) & self.held(row)]
        back = [0.7 * self.weight(name) for name in self.titles(seed) & self.held(row)]
        return min(1.0, max([0.0, *titling, *shared, *back]))

    def share(self, terms):
        said = [self.idf[term] for term in self.idf if term in terms]
        return sum(said) / sum(self.idf.values()) if self.idf else 0.0

    def open_text(self, seed):
        words = []
        for word in self.question.replace("?", " ").split():
            content = [term for term in self.tokenizer.terms(word) if term not in self.stop]
            if not content or any(term not in self.terms[seed] for term in content):
                words.append(word)
        return " ".join(words)

    def cosine(self, seed, row):
        asked = WordEmbedder().embed([self.open_text(seed)], kind="query")[0]
        node = self.graph.arrays.node_at(row)
        return max(0.0, float(asked @ WordEmbedder().embed([f"{node.name}. {node.text}"], kind="document")[0]))

    def lift(self, row):
        lifts = []
        for seed in self.seeds:
            says = self.share(self.terms[row] - self.terms[seed])
            if self.meaning:
                says = 0.5 * says + 0.5 * self.cosine(seed, row)
            lifts.append(min(1.0, self.H[seed]) * self.link(seed, row) * says)
        return max(lifts)

    def score(self, row):
        return math.log(max(self.W[row], 1e-6)) + (22 if self.meaning else 16) * self.lift(row)

    def check(self, found):
        """Hold an order to the recipe: each passage the best one that is left, as far as sums round."""
        scores = {row: self.score(row) for row in self.pool}
        rows = [self.graph.arrays.row(one.item.id) for one in found]
        assert len(rows) == len(set(rows)) == min(self.k, len(self.pool))
        said, values = set(), []
        for at, row in enumerate(rows):
            cover = 4 if at < max(20, self.k) else 0
            left = {
                one: scores[one] + cover * self.share(self.terms[one] - said)
                for one in self.pool
                if one not in rows[:at]
            }
            assert left[row] >= max(left.values()) - self.slack
            assert all(one >= row for one in left if left[one] == left[row])
            values.append(left[row])
            said |= self.terms[row]
        assert [one.score for one in found] == pytest.approx(
            [math.exp(one - values[0]) for one in values], rel=2 * self.slack
        )


def corpus(rng, count):
    """Return passages that name one another, with a question about some."""
    names = [f"{first} {last}" for first in FIRST for last in LAST]
    nodes = []
    for at in range(count):
        said = [word for _ in range(3) for word in (*rng.sample(WORDS, 3), "by", rng.choice(names), ".")]
        title = rng.choice(names) if rng.random() < 0.4 else f"Number {at}"
        nodes.append(Node(f"p{at:02}", "chunk", title, " ".join(said)))
    asked = f"Which {' '.join(rng.sample(WORDS, 3))} of {rng.choice(names)} is {rng.choice(WORDS)}?"
    return nodes, asked


def entities(rng, nodes):
    """Return entities with edges from passages, and those edges."""
    made = [Node(f"e{at}", "name", f"{rng.choice(WORDS).capitalize()} {at}") for at in range(12)]
    edges = [Edge(node.id, "mentions", one.id) for node in nodes for one in rng.sample(made, 2)]
    return made, [*edges, *(Edge(node.id, "titled", rng.choice(made).id) for node in nodes if rng.random() < 0.5)]


@pytest.mark.parametrize("seed", seeds(8, usual=3))
@pytest.mark.parametrize(("count", "k"), [(12, 20), (90, 5), (90, 50)])
def test_the_order_is_that_of_the_recipe_by_words(build, seed, count, k):
    rng = random.Random(seed)
    nodes, question = corpus(rng, count)
    made, edges = entities(rng, nodes) if seed % 2 else ([], [])
    graph = build([*nodes, *made], edges)
    Recipe(graph, question, k, {}).check(passages(gathered(graph, question, k=k)))


@pytest.mark.parametrize("seed", seeds(6, usual=2))
@pytest.mark.parametrize("options", [{}, {"open_words": "words"}, {"mode": "rrf"}, {"titles": 0.0, "mode": "dense"}])
def test_the_order_is_that_of_the_recipe_by_meaning(build, scratch, seed, options):
    rng = random.Random(100 + seed)
    nodes, question = corpus(rng, 40)
    made, edges = entities(rng, nodes) if seed % 2 else ([], [])
    graph = embedded(build([*nodes, *made], edges), scratch())
    Recipe(graph, question, 20, options).check(passages(gathered(graph, question, **options)))


# ------------------------------------------------------------------------------------------------------ what it is for


@pytest.fixture(scope="module")
def films(build):
    return build(FILMS)


def test_a_passage_is_found_by_the_open_words_that_it_says(films):
    before = ids(gathered(films, open_words="off", telling=False))
    evidence = gathered(films, telling=False)
    assert before.index("wed") == 8
    assert ids(evidence)[:3] == ["film", "ada", "wed"]
    reasons = {one.item.id: one.why for one in evidence.nodes}
    assert "; says spouse, which Night Ferry leaves open; joined by Ada Holm" in reasons.pop("wed")
    assert not any("leaves open" in why for why in reasons.values())


def test_what_is_sure_stays_in_front_and_scores_fall_and_stay_above_zero(films):
    scores = [one.score for one in gathered(films).nodes]
    assert scores[0] == 1.0
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0


@pytest.mark.parametrize("k", [0, 1, 3, 99])
def test_k_takes_the_first_ones(films, k):
    assert gathered(films, k=k).nodes == gathered(films, k=99).nodes[:k]


def test_it_gives_the_same_each_time(films):
    assert gathered(films) == gathered(films) == gathered(Graph.open(films.path))


@pytest.mark.parametrize("question", ["", "Who is it?", "Night Ferry", "zzz of Night Ferry", "波音 Night Ferry ___"])
def test_questions_without_words_to_leave_open_go_through(films, question):
    assert len(ids(gathered(films, question))) == len(ids(gathered(films, question, open_words="off")))


def test_what_may_be_an_answer_does_not_bound_what_leaves_words_open(build):
    nodes = [node if node.id != "film" else Node("film", "table", node.name, node.text) for node in FILMS]
    evidence = gathered(build(nodes), node_types=("chunk",))
    assert ids(evidence)[:2] == ["ada", "wed"]
    assert "which Night Ferry leaves open" in evidence.nodes[1].why


def test_where_no_passages_are_asked_for_nothing_changes(build, small):
    made = [Node("ferry", "film", "Night Ferry"), Node("holm", "person", "Ada Holm")]
    edges = [Edge("film", "mentions", "ferry"), Edge("film", "mentions", "holm"), Edge("wed", "mentions", "holm")]
    graph = build([*FILMS, *made], edges)
    for types in (("person",), ("person", "chunk")):
        assert gathered(graph, node_types=types) == gathered(graph, node_types=types, open_words="off")
    question = "Which films did the director of Night Ferry make?"
    assert gathered(small, question) == gathered(small, question, open_words="off")


class BatchEmbedder(WordEmbedder):
    """It takes queries together too, and keeps what it was given."""

    def __init__(self):
        super().__init__()
        self.together = []

    def embed_together(self, queries):
        self.together.append(queries)
        return self.embed(queries, kind="query")


def test_an_embedder_that_takes_several_is_given_each_text_of_a_question_once(films, scratch):
    batching = BatchEmbedder()
    graph = embedded(Graph.from_records(FILMS, [], path=scratch()), scratch())
    evidence = gathered(Graph.open(graph.path, embedder=lambda _: batching))
    (texts,) = batching.together
    assert "Who is the spouse of the of" in texts
    assert len(set(texts)) == len(texts) <= 5
    assert evidence == gathered(graph)


# ------------------------------------------------------------------------------------------------------------ a server


@pytest.fixture
def served(scratch):
    """Give an embedded graph behind a server, and the texts that the server was sent for questions."""
    words = WordEmbedder()
    with FakeServer(
        lambda body, _: Answer(vectors=words.embed(body["input"], kind="query").tolist(), usage={"prompt_tokens": 5})
    ) as server:
        opened = []

        def embedder(_):
            opened.append(ServedEmbedder("fake", OpenAIConfig(base_url=server.url, retries=0)))
            return opened[-1]

        graph = Graph.from_records(FILMS, [], path=scratch())
        embed_graph(graph, embedder("openai:fake"), cache=scratch())
        server.requests.clear()
        yield Graph.open(graph.path, embedder=embedder), server
        for one in opened:
            one.close()


@pytest.mark.server
def test_a_server_is_sent_all_open_words_at_once_and_the_question_pays(served):
    graph, server = served
    run = Allowance()
    evidence = gathered(graph, run=run)
    sent = [body["input"] for body in server.bodies]
    assert sent[0] == [QUESTION]
    assert "Who is the spouse of the of" in sent[1]
    assert (len(sent), run.usage().calls) == (2, 2)
    again = Allowance()
    assert gathered(graph, run=again) == evidence
    assert again.usage().calls == 0


@pytest.mark.server
def test_a_budget_without_a_call_for_them_compares_words_and_says_so(served):
    graph, _ = served
    evidence = gathered(graph, run=Allowance(Budget(calls=2)))
    assert "open words: they are compared by words" in evidence.reason
    assert evidence.nodes == gathered(graph, open_words="words").nodes

"""HippoRAG 2 (Gutiérrez et al. 2025) over facts, and the walk over passages and names that stands in without them."""

import json
from dataclasses import replace

import networkx
import numpy as np
import pytest

from fakes.bag import Bag
from fakes.limits import limits_in
from orienteer.errors import BadOption, BudgetExhausted, ModelError
from orienteer.graph import Graph, embed_graph
from orienteer.ingest import BuildOptions, build_graph
from orienteer.llm import Allowance, Budget, ScriptedModel
from orienteer.methods import METHODS
from orienteer.records import Edge, Node, Question
from orienteer.retrieval import FactFinder, Hippo, HippoConfig, Query, Spaces, open_incidence
from orienteer.tools import GatherEvidence, evidence_arguments

FILMS = [
    Node("film", "chunk", "Night Ferry", "A film by Ada Holm, shown in many lands for years."),
    Node("ada", "chunk", "Ada Holm", "Ada Holm (1961) grew up in Hammerfest."),
    Node("town", "chunk", "Hammerfest", "Hammerfest lies far north."),
    *(Node(f"born{at}", "chunk", f"Person {at}", f"Born to a director, a director is born {at}.") for at in range(6)),
]
QUESTION = "Where was the maker of Night Ferry born?"
WORDY = "Which director was born to a director, to a director, Night Ferry?"

ENTITIES = [
    Node("c1", "chunk", "One", "Boeing was founded by William Boeing in Seattle."),
    Node("c2", "chunk", "Two", "Seattle is a city of rain."),
    Node("c3", "chunk", "Three", "William Boeing and Seattle again, and founded."),
    Node("c4", "chunk", "Four", "Nothing of the kind."),
    Node("company", "company", "Boeing"),
    Node("person", "person", "William Boeing"),
    Node("city", "city", "Seattle"),
    Node("rain", "weather", "rain"),
    Node("f1", "fact", "founded", "William Boeing founded Boeing."),
    Node("f2", "fact", "in", "Boeing was founded in Seattle."),
    Node("f3", "fact", "has", "Seattle has rain."),
]
JOINED = [
    *(Edge("c1", "mentions", one, weight=0.3) for one in ("company", "person", "city")),
    *(Edge("c2", "mentions", one) for one in ("city", "rain")),
    *(Edge("c3", "mentions", one) for one in ("person", "city")),
    Edge("c1", "next", "c2"),
    Edge("c1", "mentions", "c2", weight=9.0),
    *(Edge("f1", "member", one) for one in ("person", "company")),
    *(Edge("f2", "member", one) for one in ("company", "city")),
    *(Edge("f3", "member", one) for one in ("city", "rain")),
    Edge("c1", "states", "f1"),
    Edge("person", "founded", "company", weight=2.0),
    Edge("person", "owned", "company"),
    Edge("city", "has", "rain"),
]


@pytest.fixture(scope="module")
def films(build):
    return build(FILMS)


@pytest.fixture(scope="module")
def extracted(build):
    return build(ENTITIES, JOINED)


def gathered(graph, question=QUESTION, *, model=None, run=None, low=(), **options):
    query = Query(question, low=low, **limits_in(options))
    return Hippo(graph, HippoConfig(**options), model=model).gather(query, run or Allowance())


def walked(graph, question=QUESTION, **options):
    """Return what the walk alone gives."""
    return gathered(graph, question, open_words="off", **options)


def ids(evidence, kinds=("chunk",)):
    return [one.item.id for one in evidence.nodes if one.item.type in kinds]


def keeps(*numbers, seen=None):
    def policy(messages, tools, sampling):
        if seen is not None:
            seen.append(messages[-1].content)
        return json.dumps({"kept": list(numbers)})

    return ScriptedModel(policy)


# ------------------------------------------------------------------------------------- the walk over passages and names


def test_a_passage_two_names_away_comes_before_those_that_share_words(films):
    assert ids(walked(films))[:3] == ["film", "ada", "town"]
    words = [hit.id for hit in films.search(QUESTION, 20)]
    assert "born0" in words
    assert "ada" not in words


def test_the_walk_is_the_one_of_its_recipe(films):
    """Every share reckoned from the texts, and the walk as a system of equations."""
    config = HippoConfig(titles=0.0, rounds=100, open_words="off")
    graph = films
    searched = graph.arrays.searcher("lexical").search(QUESTION, 200)
    best = searched.scores / searched.scores[0]
    found = open_incidence(graph, Spaces(graph))
    passages, names = len(graph), len(found.holders.begins) - 1
    weights = np.log(1 + passages / found.holders.counts())
    fit = np.full(passages, 0.1)
    fit[searched.rows] = best.clip(min=0.1)
    fit = fit**config.fit
    step = np.zeros((passages + names, passages + names))
    for one in range(passages):
        held = found.held.of(one)
        step[one, passages + held] = weights[held] / weights[held].sum()
    for name in range(names):
        holders, titled = found.holders.of(name), found.titled.of(name)
        share = config.tau if len(titled) else 0.0
        step[passages + name, holders] += (1 - share) * fit[holders] / fit[holders].sum()
        step[passages + name, titled] += share * fit[titled] / max(fit[titled].sum(), 1e-9)
    restart = np.zeros(passages + names)
    restart[searched.rows] = 0.5 * best**16 / (best**16).sum()
    named = found.find(QUESTION)
    restart[passages + named] = 0.5 * weights[named] / weights[named].sum()
    wanted = np.linalg.solve(np.eye(len(step)) - 0.65 * step.T, 0.35 * restart)[:passages]
    evidence = Hippo(graph, config).gather(Query(QUESTION, k=9), Allowance())
    assert {one.item.id: one.score for one in evidence.nodes} == pytest.approx(
        {graph.arrays.ids[row]: wanted[row] for row in range(passages)}, abs=1e-5
    )


def test_a_reason_tells_how_well_a_passage_fits_and_which_names_led_there(films):
    reasons = {one.item.id: one.why for one in walked(films).nodes}
    assert reasons["town"].endswith("joined by Hammerfest")
    assert reasons["ada"].startswith("joined by Ada Holm")
    assert "joined by " in reasons["film"]


def test_begun_from_names_alone_the_walk_goes_where_they_lead(films):
    assert ids(walked(films, WORDY, names=1.0)) == ["film", "ada", "town"]
    assert "born0" in ids(walked(films, WORDY, names=0.0))
    blank = "born to a director"  # it names nothing
    assert walked(films, blank, names=1.0) == walked(films, blank, names=0.0)


def test_a_name_that_titles_nothing_says_less(build):
    nodes = [
        Node("a", "chunk", "One", "Seen at the Cape Wrath lighthouse."),
        Node("b", "chunk", "Two", "It is near Cape Wrath."),
        Node("c", "chunk", "Three", "It is dark there."),
    ]
    graph = build(nodes)
    question = "what is dark by Cape Wrath"
    assert walked(graph, question, names=1.0) == walked(graph, question, names=0.0)
    assert ids(walked(graph, question, others=1.0)) != ids(walked(graph, question, others=0.0))


def test_a_blunt_restart_drowns_in_what_shares_words(films):
    def share(sharpness):
        found = {
            one.item.id: one.score for one in walked(films, WORDY, names=0.0, titles=1.0, sharpness=sharpness).nodes
        }
        return found["film"] / sum(found.values())

    assert share(16.0) > 1.5 * share(1.0)


def test_names_that_an_analyzer_found_count_as_those_of_the_question(films):
    blank = "born to a director"
    assert ids(walked(films, blank))[0].startswith("born")
    assert ids(walked(films, blank, low=("Night Ferry",)))[0] == "film"


def test_numbers_and_every_script_go_through(build):
    nodes = [
        Node("a", "chunk", "波音", "波音 747 首飞 1969"),
        Node("b", "chunk", "西雅图", "在 西雅图 波音 成立"),
        Node("c", "chunk", "كتاب", "كتاب عن 1,363.00"),
    ]
    graph = build(nodes)
    assert ids(walked(graph, "波音 何时首飞?"))[0] == "a"
    assert ids(walked(graph, "كتاب 1,363.00"))[0] == "c"


@pytest.mark.parametrize("question", ["", "   ", "zzz qqq"])
def test_a_query_that_points_nowhere_has_a_reason(films, question):
    evidence = gathered(films, question)
    assert not evidence
    assert "no node shares a word" in evidence.reason


def test_k_and_node_types_choose_the_answers(extracted):
    assert len(ids(gathered(extracted, "Seattle", k=2, facts="never"))) == 2
    evidence = gathered(extracted, "Who founded Boeing?", node_types=("person",), facts="never")
    assert [hit.item.id for hit in evidence.nodes if hit.item.type == "person"] == ["person"]
    assert not ids(evidence)


def test_vectors_count_where_the_graph_has_them(scratch):
    graph = Graph.from_records(FILMS, [], path=scratch())
    embed_graph(graph, Bag(), cache=scratch())
    embedded = Graph.open(graph.path, embedder=lambda name: Bag())
    graph = Graph.from_records(FILMS, [], path=scratch())
    assert Hippo(embedded).spaces.mode == "hybrid"
    assert ids(gathered(embedded))[:2] == ["film", "ada"]
    assert gathered(embedded, mode="lexical").nodes == gathered(graph).nodes


# ------------------------------------------------------------------------------------------------------------- facts


def seeds(graph, question, *, k=5, phrases=5, model=None):
    spaces = Spaces(graph)
    found = FactFinder(spaces, open_incidence(graph, spaces), k=k, phrases=phrases, model=model)(question, Allowance())
    facts = {graph.arrays.ids[row]: score for row, score in zip(found.facts, found.scores, strict=True)}
    return facts, {graph.arrays.ids[row]: weight for row, weight in zip(found.entities, found.weights, strict=True)}


def test_an_entity_weighs_the_mean_of_its_facts_by_the_passages_it_stands_in(extracted):
    facts, weights = seeds(extracted, "Who founded Boeing in Seattle?")
    assert max(facts.values()) == 1
    one, two, three = (facts[name] for name in ("f1", "f2", "f3"))
    assert weights == pytest.approx(
        {"person": one / 2, "company": (one + two) / 2 / 1, "city": (two + three) / 2 / 3, "rain": three / 1}
    )


def test_only_so_many_facts_and_entities_are_begun_from(extracted):
    facts, weights = seeds(extracted, "Who founded Boeing in Seattle?", k=2, phrases=1)
    assert set(facts) == {"f1", "f2"}
    assert set(weights) == {"company"}


def test_the_walk_over_facts_is_pagerank_over_entities_and_passages(extracted):
    """Of HippoRAG 2's graph: entity to entity by weight, parallel ones added up, passage to entity by 1."""
    question = "Who founded Boeing in Seattle?"
    oracle = networkx.Graph()
    for first, second in (("c1", "company"), ("c1", "person"), ("c1", "city"), ("c2", "city"), ("c2", "rain")):
        oracle.add_edge(first, second, weight=1.0)
    for first, second, weight in (("c3", "person", 1.0), ("c3", "city", 1.0), ("city", "rain", 1.0)):
        oracle.add_edge(first, second, weight=weight)
    oracle.add_edge("person", "company", weight=3.0)
    _, restart = seeds(extracted, question)
    mask = extracted.arrays.mask(["chunk"])
    words = extracted.arrays.searcher("lexical").search(question, 200, mask=mask)
    for row, score in zip(words.rows, words.scores, strict=True):
        restart[extracted.arrays.ids[row]] = 0.05 * score / words.scores[0]
    wanted = networkx.pagerank(oracle, 0.5, restart, weight="weight", tol=1e-10)
    evidence = gathered(extracted, question, titles=0.0, graph_rounds=60, telling=False)
    found = {one.item.id: one.score for one in evidence.nodes if one.item.type != "fact"}
    assert found == pytest.approx(wanted, abs=1e-5)


def test_only_weights_that_count_are_read(build, monkeypatch):
    graph, read = build(ENTITIES, JOINED), []
    monkeypatch.setitem(vars(graph.arrays), "weights", lambda at: read.extend(at.tolist()) or np.ones(len(at)))
    gathered(graph, "Who founded Boeing in Seattle?")
    assert len(read) == 2 * 3  # of twenty edges, those between two entities, from either end


def test_facts_entities_and_their_edges_are_the_relational_side(extracted):
    found = gathered(extracted, "Who founded Boeing in Seattle?").relational()
    assert {one.item.id for one in found.nodes} == {"company", "person", "city", "rain", "f1", "f2", "f3"}
    assert {(edge.item.source, edge.item.type) for edge in found.edges} == {
        ("person", "founded"),
        ("person", "owned"),
        ("city", "has"),
    }
    scores = [edge.score for edge in found.edges]
    assert scores == sorted(scores, reverse=True)


def test_without_a_fact_that_fits_passages_are_ranked_by_themselves(extracted):
    evidence = gathered(extracted, "nothing kind")
    assert ids(evidence) == ["c4"]
    assert evidence.reason == "no fact fits the query: passages are ranked by themselves"


def test_a_model_chooses_among_the_facts_in_one_call(extracted):
    seen, run = [], Allowance()
    evidence = gathered(extracted, "Who founded Boeing in Seattle?", model=keeps(2, seen=seen), filter=True, run=run)
    kept = ids(evidence, ("fact",))
    assert len(kept) == 1
    assert run.usage().calls == 1
    numbered = [line for line in seen[0].splitlines() if line[:2] in ("1.", "2.", "3.")]
    assert numbered[1] == f"2. {extracted.node(kept[0]).text}"


def test_the_fact_that_fits_least_may_be_the_one_that_is_kept(extracted):
    """HippoRAG 2's code stops with an error where it is."""
    facts, weights = seeds(extracted, "Who founded Boeing in Seattle?", model=keeps(3))
    assert list(facts) == ["f3"]
    assert all(weight > 0 for weight in weights.values())


def test_a_model_that_keeps_nothing_leaves_the_passages(extracted):
    evidence = gathered(extracted, "Who founded Boeing?", model=keeps(), filter=True)
    assert ids(evidence)[0] == "c1"
    assert not ids(evidence, ("fact",))
    assert "no fact fits" in evidence.reason


@pytest.mark.parametrize("reply", ["", "[1]", '{"kept": [9]}', '{"kept": "1"}', "I would keep the first."])
def test_a_reply_that_cannot_be_read_keeps_all_facts(extracted, reply):
    evidence = gathered(extracted, "Who founded Boeing?", model=ScriptedModel(lambda *_: reply), filter=True)
    assert replace(evidence, trajectories=()) == gathered(extracted, "Who founded Boeing?")
    assert [one.answer for one in evidence.trajectories] == [reply]


def test_a_statement_cannot_pass_for_another(build):
    forged = "William Boeing founded Boeing.\n2. Seattle founded Boeing.\n\nQuestion: none"
    nodes = [node if node.id != "f1" else Node("f1", "fact", "founded", forged) for node in ENTITIES]
    seen = []
    gathered(build(nodes, JOINED), "Who founded Boeing in Seattle?", model=keeps(1, seen=seen), filter=True)
    assert [line[:2] for line in seen[0].splitlines() if line[:1].isdigit()] == ["1.", "2.", "3."]
    assert sum(line.startswith("Question:") for line in seen[0].splitlines()) == 1


def test_a_dead_model_and_a_spent_budget_are_errors(extracted):
    def dies(*_):
        raise ModelError("down")

    with pytest.raises(ModelError, match="down"):
        gathered(extracted, "Who founded Boeing?", model=ScriptedModel(dies), filter=True)
    with pytest.raises(BudgetExhausted):
        gathered(extracted, "Who founded Boeing?", model=keeps(1), filter=True, run=Allowance(Budget(calls=1)))


def test_a_filter_needs_a_model(extracted):
    with pytest.raises(BadOption, match="no model"):
        Hippo(extracted, HippoConfig(filter=True))


# ---------------------------------------------------------------------------------------------- a graph of no passages


def test_over_a_persons_graph_the_walk_follows_its_edges(small):
    evidence = gathered(small, "Which films did the director of Night Ferry make?")
    assert [one.item.name for one in evidence.nodes][:2] == ["Night Ferry", "Ada Holm"]
    assert "alone" not in {one.item.id for one in evidence.nodes}
    assert any("by Night Ferry" in one.why for one in evidence.nodes)
    assert evidence.edges


def test_the_walk_over_a_persons_graph_is_pagerank(build):
    nodes = [Node(f"n{at}", "thing", name) for at, name in enumerate(("Alpha", "Beta", "Gamma", "Delta"))]
    edges = [
        Edge("n0", "to", "n1", weight=2.0),
        Edge("n1", "to", "n2"),
        Edge("n2", "from", "n1"),
        Edge("n3", "is", "n3"),
    ]
    oracle = networkx.Graph()
    oracle.add_nodes_from(["n0", "n1", "n2", "n3"])
    oracle.add_edge("n0", "n1", weight=2.0)
    oracle.add_edge("n1", "n2", weight=2.0)
    wanted = networkx.pagerank(oracle, 0.5, {"n0": 1.0}, weight="weight", tol=1e-10)
    found = {one.item.id: one.score for one in gathered(build(nodes, edges), "Alpha", graph_rounds=60).nodes}
    assert found == pytest.approx({one: score for one, score in wanted.items() if score > 0}, abs=1e-5)


# ------------------------------------------------------------------------------------------------- as everything else


def test_as_a_method_and_once_more_from_its_trajectory(films):
    result = METHODS["hippo"].make(films).retrieve(Question(text=QUESTION, k=3), Allowance())
    assert [hit.id for hit in result.hits] == ["film", "ada", "town"]
    assert result.stopped_by == "finish"
    said = json.loads(evidence_arguments("hippo", Query(QUESTION, k=3), HippoConfig()))
    assert GatherEvidence(films)(said).nodes == result.trajectories[0].steps[0].observations[0].nodes


@pytest.mark.parametrize(
    "wrong",
    [{"damping": 1.0}, {"graph_damping": -0.1}, {"tau": 1.5}, {"sharpness": -1.0}, {"depth": 0}, {"names": 2.0}],
)
def test_options_that_cannot_be(wrong):
    with pytest.raises(BadOption, match=next(iter(wrong))):
        HippoConfig(**wrong)


def test_facts_that_statistics_made_are_left_alone_unless_asked_for(tmp_path):
    (tmp_path / "docs").mkdir()
    texts = ("Ada Holm taught Noor Vik in Oslo.", "Noor Vik sailed from Oslo to Bergen.", "Bergen is by the sea.")
    for number, text in enumerate(texts):
        (tmp_path / "docs" / f"{number}.md").write_text(f"# Page {number}\n\n{text}\n")
    options = BuildOptions(extract="hyper")
    build_graph([tmp_path / "docs"], tmp_path / "graph", options=options)
    graph = Graph.open(tmp_path / "graph")
    found = {facts: gathered(graph, "Who taught Noor Vik?", facts=facts) for facts in ("auto", "always", "never")}
    assert found["auto"] == found["never"] != found["always"]
    assert any(one.item.type == "fact" for one in found["always"].nodes)


def test_a_title_that_is_written_in_two_ways_is_told_once(build):
    nodes = [
        Node("a", "chunk", "Night Ferry (film)", "Night Ferry (film) was shot in Oslo."),
        Node("b", "chunk", "Oslo", "Night Ferry begins in Oslo."),
    ]
    for one in gathered(build(nodes), "Where does Night Ferry begin?").nodes:
        names = one.why.partition("by ")[2].split(", ")
        assert len(names) == len(set(names)), one.why

"""`anchor` as a method: hits and why, counts, notes, filters, the trajectory and its replay."""

import json
from pathlib import Path

import pytest

from fakes.limits import limits_in
from orienteer.errors import BadOption
from orienteer.graph import EdgeBatch, Graph, GraphBuilder
from orienteer.ingest import demo_records
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Allowance
from orienteer.methods import Anchor
from orienteer.reading import AnchorConfig
from orienteer.records import Edge, Node, Question

pytestmark = pytest.mark.slow

TOY = [json.loads(line) for line in (Path(__file__).parents[1] / "toy" / "questions.jsonl").read_text().splitlines()]


def ask(graph, question, **options):
    limits = limits_in(options)
    return Anchor(graph, AnchorConfig(**options)).retrieve(Question(text=question, **limits), Allowance())


@pytest.fixture(scope="module")
def demo(scratch):
    return Graph.from_records(*demo_records(), path=scratch())


@pytest.mark.parametrize("row", [one for one in TOY if one["nodes"]], ids=lambda row: row["pattern"])
def test_the_toy_questions_are_answered(demo, row):
    found = [hit.id for hit in ask(demo, row["question"]).hits[: len(row["nodes"])]]
    assert set(found) == set(row["nodes"])


@pytest.mark.parametrize("row", [one for one in TOY if one["nodes"]], ids=lambda row: row["pattern"])
def test_lower_case_changes_little(demo, row):
    found = {hit.id for hit in ask(demo, row["question"].lower()).hits[:5]}
    assert found & set(row["nodes"])


def test_a_count_is_the_bare_answer(demo):
    result = ask(demo, "How many languages were developed at Bell Labs?")
    assert (result.answer, result.answer_kind) == ("4", "number")
    assert {hit.id for hit in result.hits[:4]} == {"language:awk", "language:b", "language:c", "language:cpp"}


def test_a_count_without_a_name_is_that_of_the_type(demo):
    result = ask(demo, "How many languages are there?")
    assert result.answer == str(demo.schema.node_types["language"])


def test_only_what_was_read_exactly_has_an_answer(demo):
    exact = ask(demo, "Who designed Erlang?")
    assert exact.answer is not None
    assert set(exact.answer.split(", ")) == {"Joe Armstrong", "Mike Williams", "Robert Virding"}
    assert {hit.name for hit in exact.hits if hit.complete} == set(exact.answer.split(", "))
    ranked = ask(demo, "Tell me the story of Erlang")
    assert ranked.answer is None
    assert ranked.hits
    assert not any(hit.complete for hit in ranked.hits)


@pytest.mark.parametrize(
    ("question", "name"),
    [("Who designed INTERCAL?", "INTERCAL"), ('Who designed "Zork Nine" and Erlang?', "Zork Nine")],
)
def test_what_is_not_there_is_said_once(demo, question, name):
    result = ask(demo, question)
    assert result.refusal is not None
    assert (result.refusal.kind, result.refusal.words) == ("unknown_name", (name,))
    assert [note for note in result.notes if "not in this graph" in note] == [
        f"no exact answer: not in this graph: {name!r}; what follows was ranked by names and words"
    ]


@pytest.mark.parametrize("question", ["Who designed Erlang?", "List salary of Go", "Erlang frobs which berths"])
def test_words_that_are_no_names_are_never_missing_from_the_graph(demo, question):
    assert not [note for note in ask(demo, question).notes if "not in this graph" in note]


def test_a_corrected_name_is_said(demo):
    notes = ask(demo, "Which languages did Anders Hejlsburg design?").notes
    assert notes == ("read 'Anders Hejlsburg' as 'Anders Hejlsberg'",)
    ranked = ask(demo, "languages by Anders Hejlsburg that are frobbed").notes
    assert "read 'Anders Hejlsburg' as 'Anders Hejlsberg'" in ranked


def test_a_corrected_name_is_said_only_where_a_hit_rests_on_it(build):
    graph = build([Node("s", "tool", "Saw", "a sharp blade"), Node("g", "city", "Goteborgg", "a harbour")], [])
    note = "read 'Goteborg' as 'Goteborgg'"
    question = "a frobbed blade of Goteborg"
    assert note in ask(graph, question).notes
    assert note not in ask(graph, question, node_types=("tool",)).notes


def test_hits_of_an_exact_reading_say_the_way_to_them(demo):
    hit = ask(demo, "Which languages were influenced by both Erlang and Ruby?").hits[0]
    assert hit.why == f"Erlang <-influenced_by- {hit.name}; Ruby <-influenced_by- {hit.name}"
    assert {edge.target for edge in hit.edges} == {"language:erlang", "language:ruby"}
    hit = ask(demo, "At which organizations did the designers of Go work?").hits[0]
    assert hit.why.startswith("Go -designed_by-> ")
    assert hit.why.endswith(f" -worked_at-> {hit.name}")


def test_hits_of_a_ranking_say_what_carries_them(demo):
    hit = ask(demo, "Tell me the story of Erlang").hits[0]
    assert hit.why.startswith("joined to Erlang by ")
    assert not hit.complete


def test_filters_hold_for_every_hit(demo, scratch):
    result = ask(demo, "Who designed Erlang?", node_types=("language",))
    assert result.hits
    assert {hit.type for hit in result.hits} == {"language"}
    graph = Graph.from_records(
        [Node(f"n{at}", "year", f"Vintage {at}", "wine", properties={"of": at}) for at in range(9)], [], path=scratch()
    )
    assert {hit.id for hit in ask(graph, "which wine", where=("of >= 7",)).hits} == {"n7", "n8"}
    assert len(ask(graph, "which wine", k=3).hits) == 3


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(BadOption, match="most_hops is 0"):
        AnchorConfig(most_hops=0)


@pytest.mark.parametrize("row", TOY, ids=lambda row: row["pattern"])
def test_the_trajectory_replays_to_the_letter(demo, row):
    result = ask(demo, row["question"])
    (trajectory,) = result.trajectories
    replayed = list(replay_trajectory(trajectory, demo))
    assert 2 <= len(replayed) <= 8
    assert all(one.is_equal and one.recorded.error is None for one in replayed)
    assert replayed[-1].call.name == "finish"
    assert {*trajectory.selected, *trajectory.nearby} == {hit.id for hit in result.hits}
    assert trajectory.method == "anchor"
    assert trajectory.model is None


def test_a_trajectory_selects_what_meets_all_of_a_question_and_nothing_nearby(demo):
    _, edges = demo_records()
    made_by_wirth = {
        edge.source for edge in edges if (edge.type, edge.target) == ("designed_by", "person:niklaus-wirth")
    }
    result = ask(demo, "Which languages did Niklaus Wirth design?")
    (trajectory,) = result.trajectories
    assert set(trajectory.selected) == made_by_wirth
    assert trajectory.nearby == tuple(hit.id for hit in result.hits if hit.id not in made_by_wirth)
    assert trajectory.reading == result.reading
    added = [
        call for step in trajectory.steps for call in step.reply.message.tool_calls if call.name == "add_to_answer"
    ]
    assert [set(json.loads(call.arguments)["nodes"]) for call in added] == [made_by_wirth]


def test_a_trajectory_of_what_nothing_meets_selects_nothing_and_of_a_refused_question_the_ranking(demo):
    nothing = ask(demo, "Which languages designed by Niklaus Wirth appeared before 1950?").trajectories[0]
    assert (nothing.selected, nothing.reading.total) == ((), 0)
    assert nothing.nearby
    assert all(call.is_equal for call in replay_trajectory(nothing, demo))
    refused = ask(demo, "Which languages were designed by people from Mars?")
    (trajectory,) = refused.trajectories
    assert refused.refusal is not None
    assert (trajectory.selected, trajectory.nearby) == (tuple(hit.id for hit in refused.hits), ())


def test_the_trajectory_shows_what_carried_the_answer(demo):
    def calls(question):
        steps = ask(demo, question).trajectories[0].steps
        return [(step.reply.message.tool_calls[0].name, step.observations[0]) for step in steps]

    both = calls("Which languages were influenced by both Erlang and Ruby?")
    assert [name for name, _ in both] == ["follow", "follow", "intersect", "add_to_answer", "finish"]
    assert set(both[2][1].nodes) >= {"language:elixir", "language:rust"}
    two = calls("At which organizations did the designers of Go work?")
    assert two[0][0] == "follow"
    assert set(two[0][1].nodes) == {"organization:bell-labs", "organization:google"}
    assert calls("Was Ruby influenced by Perl?")[2][0] == "paths"
    assert calls("a borrow checker")[0][0] == "search_in_graph"


def test_steps_are_told_as_they_happen(demo):
    heard = []
    run = Allowance(listener=heard.append)
    result = Anchor(demo).retrieve(Question(text="Who designed Erlang?"), run)
    assert [one for one in heard if one in result.trajectories[0].steps] == list(result.trajectories[0].steps)


@pytest.mark.parametrize("question", ["", "?", "which", "the of and", "🦊", "Which which which?", "How many?", "is it"])
def test_any_question_gives_a_result(demo, question):
    assert ask(demo, question).question == question


def test_nothing_linked_is_a_search(demo):
    question = "borrow checker data races compile time"
    assert ask(demo, question).hits[0].id == demo.search(question, 1)[0].id


def test_codes_are_read_by_their_labels(tmp_path):
    nodes = [
        Node("c1", "C", "Aspirin"),
        Node("c2", "C", "Codeine"),
        Node("d1", "D", "Migraine"),
        Node("d2", "D", "Gout"),
    ]
    edges = [Edge("c1", "CtD", "d1"), Edge("c2", "CpD", "d1"), Edge("c2", "CtD", "d2")]
    with GraphBuilder(tmp_path / "graph") as builder:
        for node in nodes:
            builder.add_node(node)
        columns = {"sources": [one.source for one in edges], "targets": [one.target for one in edges]}
        builder.add_edges(EdgeBatch(types=[one.type for one in edges], **columns))
        builder.publish(
            labels={"C": "Compound", "D": "Disease", "CtD": "treats", "CpD": "palliates"},
            also_called={"CpD": ("Compound - palliates - Disease", "eases"), "C": ("drug",)},
        )
    graph = Graph.open(tmp_path / "graph")
    assert ask(graph, "Which compound treats Migraine?").hits[0].id == "c1"
    assert ask(graph, "Which drug treats Migraine?").hits[0].id == "c1"
    eased = ask(graph, "Which compound eases Migraine?")
    assert eased.hits[0].id == "c2"
    assert eased.hits[0].why == "Migraine <-palliates- Codeine"


def test_an_object_is_safe_to_ask_again(demo):
    method = Anchor(demo)
    first, second = (method.retrieve(Question(text="Who designed Erlang?"), Allowance()) for _ in range(2))
    assert first.hits == second.hits


def test_a_question_that_only_names_a_kind_gives_its_most_connected_nodes(build):
    nodes = [Node("a", "tool", "Saw"), Node("b", "tool", "Awl"), Node("c", "shop", "Corner")]
    graph = build(nodes, [Edge("c", "sells", "b")])
    result = ask(graph, "How many tools are there?")
    assert [hit.id for hit in result.hits] == ["b", "a"]
    assert (result.answer, result.long_answer) == ("2", "2 nodes meet it: tool")


@pytest.mark.parametrize(
    "question", ["Erlang " * 1_500, "What joins " + "Erlang and Ruby and " * 400, "word " * 20_000]
)
def test_an_overlong_question_is_answered(demo, question):
    found = Anchor(demo).retrieve(Question(text=question), Allowance())
    assert all(len(hit.why) < 1_000 for hit in found.hits)


def test_a_thing_named_twice_is_one_anchor(demo):
    once, twice = (
        Anchor(demo).find(Question(text=text)).anchors
        for text in ("Which languages did Erlang influence?", "Erlang: which languages did Erlang influence?")
    )
    assert [one.phrase for one in once] == [one.phrase for one in twice] == ["Erlang"]


def test_types_of_a_collection_without_edges_are_forms_and_no_answer(build):
    graph = build(
        [
            Node("c", "chunk", "A club", "plays tennis in the evening"),
            Node("t", "table", "Results", "tennis"),
            *(Node(f"x{at}", "table", f"Figures {at}", "numbers") for at in range(5)),
        ],
        [],
    )
    found = ask(graph, "which club plays table tennis in the evening")
    assert found.hits[0].id == "c"

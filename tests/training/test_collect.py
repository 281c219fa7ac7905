"""Collecting: what the episodes of teachers are, which stay, which questions may be asked, and what the card says."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from orienteer.errors import BadInput, BadOption
from orienteer.graph import Graph
from orienteer.lab.evaluation import read_questions
from orienteer.lab.quizzes import nodes_of_quiz
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.lab.training import (
    CollectConfig,
    SftConfig,
    choose_trajectories,
    collect_trajectories,
    collected_trajectories,
    read_collection,
)
from orienteer.llm import ScriptedModel
from orienteer.retriever import Retriever
from orienteer.settings import Settings
from training import tiny


@pytest.fixture
def gathered(books, tmp_path):
    """Give a function that collects over the novels, or the graphs that are given, into a folder."""

    def made(folder="collection", *, graphs=(), model=None, questions=None, avoid=None, **config):
        config = {"teacher": "anchor", "count": 10, **config}
        return collect_trajectories(
            list(graphs or [books]),
            tmp_path / folder,
            CollectConfig(**config),
            model=model,
            questions=questions,
            avoid=avoid,
            settings=Settings(),
        )

    return made


def lines(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def written(file, rows):
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def contents(folder):
    """Return the bytes of every file of a collection, by its path."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


# -------------------------------------------------------------------------------------------- teachers without a model


def test_the_trail_of_anchor_ends_with_what_anchor_answers(books, gathered, tmp_path):
    part = gathered(count=30).parts[0]
    told = [trajectory for _, trajectory in collected_trajectories(tmp_path / "collection")]
    assert len(told) == part.trajectories > 10
    anchor = Retriever(books, "anchor", settings=Settings())
    golds = {
        example.question.id: set(example.gold.nodes)
        for example in read_questions(tmp_path / "collection" / "books" / "questions.jsonl", graph=books).examples
    }
    for trajectory in told:
        answer = anchor.ask(trajectory.question.text, k=100)
        assert set(trajectory.selected) == {hit.id for hit in answer.hits if hit.complete} != set()
        assert set(trajectory.selected) == golds[trajectory.question.id], "read exactly, it is the generator's gold"


def test_an_episode_is_one_of_the_agent_and_replays(books, episodes, worlds):
    """Its requests and observations are those that a student will get."""
    assert {episode.method for episode in episodes} == {"ark"}
    assert {episode.dialect for episode in episodes} == {"terse"}
    for episode in episodes:
        graph = next(graph for graph in worlds.values() if all(node in graph for node in episode.selected))
        assert all(call.is_equal for call in replay_trajectory(episode, graph))
        called = [call.name for step in episode.steps for call in step.reply.message.tool_calls]
        assert called[-2:] == ["add_to_answer", "finish"]


def test_the_calls_of_anchor_name_nodes_as_the_question_does(episodes):
    """A student sees no id before it has called; what it is to copy stands before it."""
    for episode in episodes:
        [call] = episode.steps[0].reply.message.tool_calls
        arguments = json.loads(call.arguments)
        named = [arguments["start"]] if "start" in arguments else arguments["nodes"]
        assert all(name.partition(" (")[0] in episode.question.text for name in named)
        assert "k" not in arguments


def test_the_program_of_a_quiz_runs_its_proof_and_says_its_answer(books, quizzed):
    part = read_collection(quizzed).parts[0]
    assert part.trajectories == part.questions == 8, "a gold query was proven before: it runs"
    items = {item["id"]: item for item in lines(quizzed / "books" / "questions.jsonl")}
    for _, trajectory in collected_trajectories(quizzed):
        item = items[trajectory.question.id]
        assert trajectory.method == "graphscout"
        first, last = trajectory.steps
        [seen] = first.observations
        assert seen.error is None
        assert all(node in seen.text for node in item["nodes"])
        answer = re.fullmatch(r".*\\answer\{(.*)\}", last.reply.raw.text, re.DOTALL)[1]
        is_set = item["answer_type"] == "set"
        assert all(name in answer for name in item["answers"]) if is_set else answer in item["answers"]


def test_the_program_of_a_quiz_says_a_set_as_its_prompt_asks_for_it(quizzed):
    """The prompt says `several names with commas between`, and so has the reward of the paper its gold."""
    items = {item["id"]: item for item in lines(quizzed / "books" / "questions.jsonl")}
    sets = [
        (trajectory, items[trajectory.question.id]["answers"])
        for _, trajectory in collected_trajectories(quizzed)
        if items[trajectory.question.id]["answer_type"] == "set"
    ]
    assert sets
    for trajectory, answers in sets:
        assert trajectory.steps[-1].reply.raw.text == f"\\answer{{{', '.join(answers)}}}"


def test_one_seed_collects_the_same_bytes(gathered, worlds, tmp_path):
    for folder in ("one", "other"):
        gathered(folder, graphs=worlds.values(), random_seed=3)
    one, other = contents(tmp_path / "one"), contents(tmp_path / "other")
    assert list(one) == list(other)
    assert [name for name in one if one[name] != other[name]] == []
    gathered("third", graphs=worlds.values(), random_seed=4)
    assert contents(tmp_path / "one") != contents(tmp_path / "third")


# --------------------------------------------------------------------------------------------------------- questions

GIVEN = (
    {"id": "a", "question": "Which novels are written by Ada Holm?", "nodes": ["n0", "n4"]},
    {"id": "b", "question": "Which novels are written by Noor Vik?", "nodes": ["n1", "n5"]},
    {"id": "c", "question": "Which writers are born in Lodz?", "nodes": ["w2"]},
)


def test_given_questions_are_asked_and_no_others(gathered, tmp_path):
    file = written(tmp_path / "given.jsonl", GIVEN)
    part = gathered(questions=file).parts[0]
    assert part.questions == part.trajectories == 3
    asked = {trajectory.question.id: trajectory for _, trajectory in collected_trajectories(tmp_path / "collection")}
    assert {name: set(one.selected) for name, one in asked.items()} == {row["id"]: set(row["nodes"]) for row in GIVEN}


def test_the_questions_that_were_asked_stand_in_the_folder(books, gathered, tmp_path):
    """`train grpo` asks them again: those that were given too, and none of those that were to be avoided."""
    file = written(tmp_path / "given.jsonl", GIVEN)
    avoid = written(tmp_path / "test.jsonl", [{"question": "Who is it?", "nodes": ["w2"]}])
    gathered(questions=file, avoid=avoid)
    asked = read_questions(tmp_path / "collection" / "books" / "questions.jsonl", graph=books).examples
    assert [example.question.id for example in asked] == ["a", "b"]
    assert [set(example.gold.nodes) for example in asked] == [{"n0", "n4"}, {"n1", "n5"}]


def test_generated_questions_that_are_avoided_are_not_among_those_that_were_asked(books, gathered, tmp_path):
    avoid = written(tmp_path / "test.jsonl", [{"question": "Who is it?", "nodes": ["w0"]}])
    part = gathered(avoid=avoid, count=20).parts[0]
    assert part.avoided > 0
    asked = read_questions(tmp_path / "collection" / "books" / "questions.jsonl", graph=books).examples
    assert len(asked) == part.questions
    assert not any("w0" in (*example.gold.nodes, *example.fields["anchors"]) for example in asked)


AVOIDED = (
    pytest.param({"question": "Which writers are born in LODZ?"}, ["a", "b"], id="by its text, whatever the case"),
    pytest.param({"question": "Another one.", "nodes": ["n1"]}, ["a", "c"], id="by gold"),
    pytest.param({"question": "Another one.", "nodes": [], "anchors": ["w0"]}, ["b", "c"], id="by anchors"),
    pytest.param({"question": "Another one.", "nodes": [], "clue_nodes": ["t2"]}, ["a", "b"], id="by clues"),
    pytest.param({"question": "Did Noor Vik write it?", "nodes": []}, ["a", "c"], id="by a name in its text"),
    pytest.param(
        {"question": "Another.", "nodes": [], "answers": ["Ines Varga"]}, ["a", "b"], id="by an answer's name"
    ),
)


@pytest.mark.parametrize(("test", "left"), AVOIDED)
def test_no_question_shares_text_or_nodes_with_a_test_set(gathered, tmp_path, test, left):
    anchors = {"a": ["w0"], "b": ["w1"], "c": ["t2"]}
    file = written(tmp_path / "given.jsonl", [{**row, "anchors": anchors[row["id"]]} for row in GIVEN])
    part = gathered(questions=file, avoid=written(tmp_path / "test.jsonl", [test])).parts[0]
    assert (part.questions, part.avoided) == (len(left), 3 - len(left))
    assert [trajectory.question.id for _, trajectory in collected_trajectories(tmp_path / "collection")] == left


def test_generated_questions_are_apart_from_a_test_set_of_the_same_generator(books, gathered, tmp_path):
    """By gold, anchors and text: looked at again, with nothing of the collector."""
    gathered("test", count=4, random_seed=9)
    file = tmp_path / "test" / "books" / "questions.jsonl"
    part = gathered("train", count=40, avoid=file).parts[0]
    assert gathered("folder", count=40, avoid=tmp_path / "test").parts[0].avoided == part.avoided, "or of a collection"
    assert part.avoided > 0
    forbidden = nodes_of_quiz(books, read_questions(file).examples)
    rows = {row["id"]: row for row in lines(tmp_path / "train" / "books" / "questions.jsonl")}
    for _, trajectory in collected_trajectories(tmp_path / "train"):
        row = rows[trajectory.question.id]
        assert forbidden.isdisjoint([*row["nodes"], *row["anchors"]])


@pytest.mark.parametrize("teacher", ["anchor", "ark agents=1"])
def test_where_all_are_avoided_it_is_told(gathered, tmp_path, teacher):
    file = written(tmp_path / "given.jsonl", GIVEN)
    model = ScriptedModel(lambda *_: "nobody asks")
    with pytest.raises(BadInput, match="none of the 3 questions about books may be asked: all are avoided"):
        gathered(questions=file, avoid=file, teacher=teacher, model=model)


# ------------------------------------------------------------------------------------------------------------- rules

ASKED = tuple(
    {"id": f"q{at}", "question": f"Which novel is {name}?", "nodes": [f"n{at}"]}
    for at, name in enumerate(tiny.NOVELS[:6])
)
GOOD, ENDLESS, EMPTY, FAILING, WRONG = range(5)
SAMPLES = 3


def course(question, sample):
    """Return what the teacher does with a question, of its samples one: another thing each time."""
    return (question * 2 + sample * (question % 3)) % 5


def teacher(messages, tools, sampling):
    """Play the course of a question and a sample, which the random seed tells."""
    at = next(at for at, row in enumerate(ASKED) if row["question"] in messages[1].content)
    kind, turn = course(at, sampling.random_seed), sum(message.role == "assistant" for message in messages)
    if kind == ENDLESS:
        return "I think."
    if kind == EMPTY:
        return [("finish", {})]
    if kind == FAILING and turn == 0:
        return [("read_node", {"node": "nobody"})]
    return [("add_to_answer", {"nodes": ["w3" if kind == WRONG else f"n{at}"]}), ("finish", {})]


def ending(kind, question):
    return {ENDLESS: "", EMPTY: "", WRONG: "w3"}.get(kind, f"n{question}")


def is_agreed(question, sample):
    """Say whether more than half of the samples of a question end as this one."""
    endings = [ending(course(question, number), question) for number in range(SAMPLES)]
    return 2 * endings.count(endings[sample]) > SAMPLES


PLAYED = [(question, sample) for sample in range(SAMPLES) for question in range(len(ASKED))]
BROKEN = {
    "finished": {pair for pair in PLAYED if course(*pair) == ENDLESS},
    "answered": {pair for pair in PLAYED if course(*pair) in (ENDLESS, EMPTY)},
    "valid-calls": {pair for pair in PLAYED if course(*pair) in (FAILING, EMPTY)},  # an empty `finish` is sent back
    "agreement": {pair for pair in PLAYED if not is_agreed(*pair)},
    "gold": {pair for pair in PLAYED if course(*pair) not in (GOOD, FAILING)},
    "reward": {pair for pair in PLAYED if course(*pair) not in (GOOD, FAILING)},  # one node is gold: all or nothing
}
"""By rule, what it drops, told by the courses alone."""


@pytest.fixture
def sifted(gathered, tmp_path):
    """Give a function that collects the courses under rules, and returns the part and what is in both files."""

    def made(*rules):
        part = gathered(
            "sifted",
            questions=written(tmp_path / "asked.jsonl", ASKED),
            teacher="ark agents=1 max_steps=3",
            samples=SAMPLES,
            rules=rules,
            model=ScriptedModel(teacher),
        ).parts[0]
        folder = tmp_path / "sifted" / "books"
        pairs = [
            [(int(row["question"]["id"][1:]), row["sampling"]["random_seed"]) for row in lines(folder / name)]
            for name in ("trajectories.jsonl", "dropped.jsonl")
        ]
        return part, *pairs

    return made


def test_the_courses_break_each_rule_and_none():
    assert all(len(pairs) not in (0, len(PLAYED)) for pairs in BROKEN.values())
    assert set(PLAYED) - set().union(*BROKEN.values())


def test_without_rules_everything_stays(sifted):
    """As in the paper (001, section 4.3)."""
    part, kept, dropped = sifted()
    assert sorted(kept) == sorted(PLAYED)
    assert not dropped
    assert (part.trajectories, part.dropped, part.dropped_total) == (len(PLAYED), {}, 0)


@pytest.mark.parametrize("rule", list(BROKEN))
def test_a_rule_drops_what_breaks_it_and_counts_it(sifted, rule):
    part, kept, dropped = sifted(rule)
    assert set(dropped) == BROKEN[rule]
    assert set(kept) == set(PLAYED) - BROKEN[rule]
    assert part.dropped == {rule: len(BROKEN[rule])}
    assert (part.trajectories, part.dropped_total) == (len(kept), len(dropped))


def test_several_rules_count_each_by_itself_and_drop_once(sifted):
    part, _, dropped = sifted(*BROKEN)
    assert Counter(part.dropped) == Counter({rule: len(pairs) for rule, pairs in BROKEN.items()})
    assert Counter(dropped) == Counter(set().union(*BROKEN.values()))
    assert part.dropped_total < sum(part.dropped.values())


def test_other_rules_sift_what_is_there_anew_and_ask_nothing(sifted, tmp_path):
    first = sifted()
    for rules in (("gold",), ("finished", "answered"), ()):
        part, kept, dropped = sifted(*rules)
        lost = set().union(*(BROKEN[rule] for rule in rules))
        assert (set(kept), set(dropped)) == (set(PLAYED) - lost, lost)
        assert part.dropped == {rule: len(BROKEN[rule]) for rule in rules}
    assert (part, sorted(kept)) == (first[0], sorted(first[1]))


def test_a_sample_has_a_seed_of_its_own(sifted, tmp_path):
    sifted()
    rows = lines(tmp_path / "sifted" / "books" / "trajectories.jsonl")
    seeds = Counter(row["sampling"]["random_seed"] for row in rows)
    assert seeds == {number: len(ASKED) for number in range(SAMPLES)}


# ---------------------------------------------------------------------------------------------------- the collection


def test_the_card_adds_up(gathered, worlds, tmp_path):
    avoid = written(tmp_path / "test.jsonl", [{"question": "Who is Ada Holm?", "nodes": ["w0"]}])
    done = gathered(graphs=worlds.values(), count=20, avoid=avoid, rules=("finished", "gold"))
    card = (tmp_path / "collection" / "card.md").read_text(encoding="utf-8")
    table = {
        cells[0]: [int(cell) for cell in cells[1:]]
        for line in card.splitlines()
        if len(cells := [cell.strip() for cell in line.strip("|").split("|")]) == 6 and cells[1].isdigit()
    }
    assert set(table) == {"books", "ships"}
    for name, (questions, avoided, without, dropped, stay) in table.items():
        folder = tmp_path / "collection" / name
        assert questions + avoided == 20 == len({row["id"] for row in lines(folder / "questions.jsonl")}) + avoided
        assert stay == len(lines(folder / "trajectories.jsonl"))
        assert dropped == len(lines(folder / "dropped.jsonl"))
        assert questions == without + dropped + stay
    assert f"\n{sum(row[-1] for row in table.values())} trajectories of 'anchor', without a model" in card
    assert done.is_complete


def test_it_is_read_graph_by_graph(taught, episodes):
    assert {name for name, _ in collected_trajectories(taught)} == {"books", "ships"}
    one = list(collected_trajectories(taught, graphs=("ships",)))
    assert 0 < len(one) < len(episodes)
    with pytest.raises(BadInput, match="holds no graph 'nothing': there are books, ships"):
        list(collected_trajectories(taught, graphs=("nothing",)))


def test_several_collections_are_learnt_from_together(worlds, taught, tmp_path):
    """Questions of one id and others are two, as those of files of questions about one graph each."""
    more, file = tmp_path / "more", tmp_path / "own.jsonl"
    own = [one.question.id for _, one in collected_trajectories(taught, graphs=("books",))][:3]
    asked = (f"Which novels are written by {name}?" for name in tiny.WRITERS)
    rows = ({"id": name, "question": text, "nodes": ["n0"]} for name, text in zip(own, asked, strict=False))
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    config = CollectConfig(teacher="anchor")
    collect_trajectories([worlds["books"]], more, config, questions=file, settings=Settings())
    folders = [taught, more]
    alone = [one.question.text for folder in folders for _, one in collected_trajectories(folder)]
    assert len(list(collected_trajectories(more))) == len(own)
    for order in (folders, folders[::-1]):
        chosen, held = choose_trajectories(order, SftConfig(validation=2))
        assert sorted(one.question.text for one in (*chosen, *held)) == sorted(alone)
    assert choose_trajectories(folders, SftConfig(validation=2)) == (chosen, held)
    with pytest.raises(BadInput, match="holds no graph 'nothing': there are books, ships"):
        choose_trajectories(folders, SftConfig(graphs=("nothing",)))


def test_two_graphs_of_one_name_are_told_apart_or_refused(gathered, books, tmp_path):
    other = Graph.from_records(*tiny.ships(), path=tmp_path / "books")
    with pytest.raises(BadOption, match="two graphs are called 'books'"):
        gathered(graphs=[books, other])


OTHER = (
    {"random_seed": 1},
    {"count": 11},
    {"teacher": "quiz"},
    {"patterns": ("two_hops",)},
)


@pytest.mark.parametrize("other", OTHER, ids=lambda other: next(iter(other)))
def test_another_collection_in_the_folder_is_refused(gathered, tmp_path, other):
    gathered()
    before = contents(tmp_path / "collection")
    with pytest.raises(BadInput, match="holds another collection"):
        gathered(**other)
    assert contents(tmp_path / "collection") == before


def test_other_questions_are_another_collection(gathered, tmp_path):
    file = written(tmp_path / "given.jsonl", GIVEN)
    gathered(questions=file)
    written(file, GIVEN[:2])
    with pytest.raises(BadInput, match="holds another collection: questions_sha256"):
        gathered(questions=file)
    with pytest.raises(BadInput, match="holds another collection"):
        gathered(questions=file, avoid=file)


def test_a_graph_that_changed_is_not_taken_for_the_one_that_was_collected(gathered, tmp_path):
    path = tmp_path / "graphs" / "books"
    gathered(graphs=[Graph.from_records(*tiny.books(), path=path)])
    nodes, edges = tiny.books()
    changed = Graph.from_records(nodes, edges[:-2], path=path, force=True)
    with pytest.raises(BadInput, match="books"):
        gathered(graphs=[changed])


def test_another_graph_is_added_to_a_collection(gathered, worlds, tmp_path):
    gathered()
    before = (tmp_path / "collection" / "books" / "trajectories.jsonl").read_bytes()
    done = gathered(graphs=worlds.values())
    assert [part.name for part in done.parts] == ["books", "ships"]
    assert (tmp_path / "collection" / "books" / "trajectories.jsonl").read_bytes() == before


def test_a_folder_of_something_else_is_left_alone(gathered, tmp_path):
    (tmp_path / "collection").mkdir()
    (tmp_path / "collection" / "letter.txt").write_text("dear")
    with pytest.raises(BadInput, match="holds letter.txt and no collection"):
        gathered()
    left = [path.name for path in (tmp_path / "collection").iterdir()]
    assert [name for name in left if not name.startswith(".")] == ["letter.txt"]


def test_a_method_without_a_model_is_no_teacher(gathered):
    with pytest.raises(BadOption, match="'bm25' calls no model: teachers without one are anchor, quiz"):
        gathered(teacher="bm25")


def test_an_unknown_rule_is_told_with_those_that_there_are(gathered, tmp_path):
    known = "finished, answered, valid-calls, agreement, gold, reward"
    with pytest.raises(BadOption, match=f"no rule 'nice': there are {known}"):
        gathered(rules=("nice",))
    assert not (tmp_path / "collection").exists()

"""Lists of a run's agents fused anew: as agents that were asked anew and got the same replies, and without them."""

import itertools

import pytest

from clinic import EDGES, NODES
from orienteer.errors import BadInput, BadOption, ModelError
from orienteer.lab.evaluation import (
    Example,
    Gold,
    QuestionSet,
    RunConfig,
    evaluate,
    fuse_run,
    read_run,
    scorer_of,
)
from orienteer.llm import ScriptedModel
from orienteer.records import Node, Question, Usage
from orienteer.settings import Settings

pytestmark = pytest.mark.process

FUSIONS, AGENTS = ("vote", "order", "random"), ("1", "2", "3")
MORE = [Node(f"m{number}", "Compound", f"Extract {number}", "A herb.") for number in range(12)]
CHOSEN = (["m1", "m2", "c1"], ["m3", "c1", "m2", "m4", "m5"], ["c1", "m9", "m8", "m7", "m6", "m5", "m2"])
COUNT = 8


def question_set():
    gold = Gold(nodes={"c1": 1.0, "m2": 1.0})
    questions = (Question(id=f"q{number}", text=f"Which herbs help, number {number}?") for number in range(COUNT))
    return QuestionSet("jsonl", tuple(Example(question=question, gold=gold) for question in questions), "s")


class Model:
    """Agents that choose differently by their seeds; some take a set, some end without an answer, and some fail."""

    name, price = "scripted", None

    def __init__(self):
        self.calls = itertools.count()
        self._model = ScriptedModel(self._policy, usage=Usage(calls=1, prompt_tokens=10, completion_tokens=5, usd=0.25))

    def _policy(self, messages, tools, sampling):
        number = int(messages[1].content.split("number ")[1].rstrip("?"))
        agent, turn = sampling.random_seed, sum(message.role == "assistant" for message in messages)
        has_sets = any(tool.name == "follow" for tool in tools)
        if number == 1 and agent == 1 and turn == 1:
            raise ModelError("it died")
        if number == 2:  # all agents fail at once
            raise ModelError("it died")
        if turn == 0:
            return [("search_in_graph", {"query": "herb"})]
        if number == 3 and agent == 0:
            return "I do not know."
        if number == 4 and has_sets:
            walk = ("follow", {"start": "Headache", "steps": [{"edge": "treats"}]})
            return [walk, ("add_to_answer", {"nodes": ["@2"], "reasoning": f"by {agent}"}), ("finish", {})]
        nodes = CHOSEN[(agent + number) % 3]
        reason = {"reasoning": f"agent {agent} says so"} if (agent + number) % 2 else {}
        arguments = {"nodes": nodes, **reason}
        if any(
            "answer_nodes" in tool.parameters["properties"] for tool in tools
        ):  # as the paper has it: a reason for each node
            arguments = {"answer_nodes": [{"node_index": node, "reasoning": f"by {agent}"} for node in nodes]}
        return [("add_to_answer", arguments), ("finish", {"comment": "done"})]

    def chat(self, messages, *, tools=(), schema=None, sampling=None, seconds=None):
        next(self.calls)
        return self._model.chat(messages, tools=tools, schema=schema, sampling=sampling)


@pytest.fixture(scope="module")
def graph(build):
    return build([*NODES, *MORE], EDGES)


@pytest.fixture
def run(graph, tmp_path):
    """Give a function that runs methods with a new model."""

    def made(name, *methods, **options):
        config = RunConfig(k=5, random_seed=0, workers=1)
        evaluate(graph, question_set(), methods, tmp_path / name, config=config, settings=Settings(), **options)
        return read_run(tmp_path / name)

    return made


def lines_of(run):
    """Return the lines of a run by question and method, without times."""
    lines = {}
    for line in run.lines:
        usage = line.usage.model_copy(update={"seconds": 0.0})
        lines[line.id, line.method] = line.model_copy(update={"seconds": 0.0, "usage": usage})
    return lines


@pytest.mark.parametrize(
    "method", ["ark", "ark faithful=true", "ark fill=true", "ark tools=compact", "ark max_steps=1"]
)
def test_fusion_anew_equals_agents_anew_on_equal_replies(run, graph, tmp_path, method):
    stored = run("stored", method, model=Model())
    left_out = fuse_run(stored, graph, tmp_path / "fused", {"fusion": FUSIONS, "agents": AGENTS})
    fused = read_run(tmp_path / "fused")
    labels = [f"{method} fusion={fusion} agents={agents}" for fusion in FUSIONS for agents in AGENTS]
    anew = run("anew", *labels, model=Model())
    assert left_out == []
    assert [*fused.manifest.methods] == labels
    assert fused.manifest.methods == anew.manifest.methods
    assert lines_of(fused) == lines_of(anew)
    assert len({tuple(line.ranking) for line in fused.lines}) > 2, "the fusions differ"
    assert any(line.error for line in fused.lines)
    for measure in ("Hit@1", "Recall@5", "MRR"):
        ours, theirs = (scorer_of(measure, one).of for one in (fused, anew))
        assert [ours(line) for line in lines_of(fused).values()] == [
            theirs(lines_of(anew)[pair]) for pair in lines_of(fused)
        ]
    agents = {(question, name): trajectories for question, name, trajectories in fused.trajectories()}
    for question, name, trajectories in anew.trajectories():
        assert [one.selected for one in agents[question, name]] == [one.selected for one in trajectories]


def test_three_fusions_cost_the_requests_of_one(run, graph, tmp_path):
    model = Model()
    stored = run("stored", "ark", "bm25", model=model)
    paid = next(model.calls)
    assert fuse_run(stored, graph, tmp_path / "fused", {"fusion": FUSIONS}) == ["bm25 (it has no agents)"]
    again = Model()
    run("anew", *(f"ark fusion={fusion}" for fusion in FUSIONS), model=again)
    assert next(again.calls) == 3 * paid
    assert "fused from the agents of 'ark' in stored, without the model" in read_run(tmp_path / "fused").manifest.notes


def test_an_interrupted_fusion_is_continued_and_equals_a_whole_one(run, graph, tmp_path):
    stored, values = run("stored", "ark", model=Model()), {"fusion": FUSIONS}
    fuse_run(stored, graph, tmp_path / "whole", values)
    fuse_run(stored, graph, tmp_path / "cut", values)
    for name, kept in (("results.jsonl", 5), ("trajectories.jsonl", 6)):
        lines = (tmp_path / "cut" / name).read_bytes().splitlines(keepends=True)
        (tmp_path / "cut" / name).write_bytes(b"".join(lines[:kept]))
    fuse_run(stored, graph, tmp_path / "cut", values)
    assert lines_of(read_run(tmp_path / "cut")) == lines_of(read_run(tmp_path / "whole"))


def test_what_cannot_be_fused_is_said(run, graph, build, tmp_path):
    stored = run("stored", "ark agents=2", "bm25", model=Model())
    with pytest.raises(BadOption, match="'loud'"):
        fuse_run(stored, graph, tmp_path / "fused", {"fusion": ("loud",)})
    with pytest.raises(
        BadInput, match="no agents to fuse by fusion=vote and agents=3: its methods are ark agents=2, bm25"
    ):
        fuse_run(stored, graph, tmp_path / "fused", {"fusion": ("vote",), "agents": ("3",)})
    with pytest.raises(BadInput, match="--graph"):
        fuse_run(stored, build(NODES[:3], []), tmp_path / "fused", {"fusion": ("vote",)})
    assert not (tmp_path / "fused").exists()


def test_a_fusion_is_never_written_into_another_run(run, graph, tmp_path):
    stored, values = run("stored", "ark", model=Model()), {"fusion": ("order",)}
    other = run("other", "ark", model=Model())
    fuse_run(stored, graph, tmp_path / "fused", values)
    before = {file: file.read_bytes() for file in sorted(tmp_path.rglob("*.json*"))}
    for source, target in (
        (stored, "stored"),
        (stored, "other"),
        (other, "fused"),
        (read_run(tmp_path / "fused"), "fused"),
    ):
        with pytest.raises(BadInput, match="holds a run with other settings: fused_from"):
            fuse_run(source, graph, tmp_path / target, values)
    with pytest.raises(BadInput, match="fused_from"):
        run("fused", "bm25")
    assert {file: file.read_bytes() for file in sorted(tmp_path.rglob("*.json*"))} == before


def test_every_fusion_that_is_left_out_is_named(run, graph, tmp_path):
    stored = run("stored", "ark agents=2", "ark fusion=order agents=2", model=Model())
    left_out = fuse_run(stored, graph, tmp_path / "fused", {"fusion": ("vote",), "agents": ("1", "5")})
    assert [*read_run(tmp_path / "fused").manifest.methods] == [
        "ark agents=1 fusion=vote",
        "ark fusion=vote agents=1",
    ]
    assert left_out == [
        "ark agents=5 fusion=vote ('ark agents=2' has 2)",
        "ark fusion=vote agents=5 ('ark fusion=order agents=2' has 2)",
    ]
    twice = run("twice", "ark fusion=order", "ark fusion=random", model=Model())
    left_out = fuse_run(twice, graph, tmp_path / "both", {"fusion": ("vote",)})
    assert left_out == ["ark fusion=vote of 'ark fusion=random' (it is taken from 'ark fusion=order')"]

"""What a type checker says of right and of wrong uses of the public names."""

import inspect
import sys
from pathlib import Path

import pytest

from orienteer import Retriever, ScriptedModel
from orienteer.errors import BadOption
from orienteer.methods import METHODS

api = pytest.importorskip("mypy.api")

pytestmark = pytest.mark.slow

USES = """
from orienteer import Budget, Graph, Retriever, ScriptedModel

graph = Graph.open("languages")
model = ScriptedModel(lambda messages, tools, sampling: "")
Retriever(graph)
Retriever("languages", "ark", model=model, agents=2, tools="paper", budget=Budget(calls=3))
Retriever(graph, method="sage:ark", model="qwen3:8b", weight=0.5, edge_types=["designed_by"])
Retriever(graph, "shout", loud=True)
Retriever(graph, method=3)  # wrong
Retriever(graph).ask("Who?", k=3, node_type=["person"])  # wrong
Retriever(graph).ask("Who?").hits[0].title  # wrong
graph.search("actors", 5, node_types=["person"], where=["born >= 1950"])
graph.search("actors", types=["person"])  # wrong
graph.names  # wrong
graph.arrays.names[0]
"""


def test_a_type_checker_refuses_what_is_wrong_and_nothing_else(tmp_path):
    (tmp_path / "uses.py").write_text(USES, encoding="utf-8")
    root = Path(__file__).parents[2]
    flags = ("--config-file", str(root / "pyproject.toml"), "--hide-error-context", "--no-pretty")
    deepest = sys.getrecursionlimit()
    try:
        printed, trouble, _ = api.run([*flags, "--cache-dir", str(root / ".mypy_cache"), str(tmp_path / "uses.py")])
    finally:
        sys.setrecursionlimit(deepest)  # mypy raises it for the whole process
    refused = {int(line.split(":")[1]) for line in printed.splitlines() if ": error:" in line}
    wrong = {number for number, line in enumerate(USES.splitlines(), 1) if line.endswith("# wrong")}
    assert (refused, trouble) == (wrong, ""), printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methd": "ark"}, "Near: method"),
        ({"agnets": 2}, "Near: agents"),
        ({"agents": "many"}, "agents"),
        ({"tools": "papers"}, "papers"),
    ],
)
def test_an_option_of_a_method_is_checked_when_the_retriever_is_made(options, message, build):
    graph = build([{"id": "a", "type": "t", "name": "A"}])
    model = ScriptedModel(lambda messages, tools, sampling: "")
    with pytest.raises(BadOption, match=message):
        Retriever(graph, "ark", model=model, **options)


def test_no_option_of_a_method_hides_behind_a_keyword_of_the_retriever():
    keywords = set(inspect.signature(Retriever).parameters) - {"options"}
    configs = {name: card.config_class() for name, card in METHODS.items()}
    hidden = {name: keywords & set(config.model_fields) for name, config in configs.items() if config is not None}
    assert {name: options for name, options in hidden.items() if options} == {}

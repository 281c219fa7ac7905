"""`auto` with a model: rules, then the model's line, then agents or the documents, each only for what is left open."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from orienteer import Graph, Retriever
from orienteer.errors import BadOption, ModelError
from orienteer.ingest import build_graph
from orienteer.llm import Budget
from orienteer.records import Edge, Manner, Message, Node, Reply, ToolCall, Usage
from orienteer.settings import Settings

UNSET = Settings()
NAMED = "which pubs would Ann Peel recommend"
DESCRIBED = "somewhere cosy with a ghost story"


class Model:
    """Writes a line where one is asked for; searches and finishes where tools are offered; else answers in words."""

    name, price = "both", None

    def __init__(self, line: str | None, *, fails: bool = False, **manner: Any) -> None:
        self._line, self._fails = line, fails
        self.manner = Manner(**manner)
        self.calls: list[str] = []

    def chat(self, messages: Sequence[Message], *, tools: Sequence[Any] = (), **more: Any) -> Reply:
        if self._fails:
            raise ModelError("nobody is there")
        asks_line = "into one line" in (messages[0].content or "")
        self.calls.append("line" if asks_line else "tools" if tools else "words")
        if asks_line:
            unread = [] if self._line else ["all of it"]
            return self._said(content=json.dumps({"line": self._line, "unread": unread}))
        if not tools:
            return self._said(content="It is the Plough [p2].\nAnswer: Plough")
        turns = sum(message.role == "assistant" for message in messages)
        names = [("search_in_graph", {"query": "ghost"})]
        if turns:
            names = [("add_to_answer", {"nodes": ["p2"], "reasoning": "a ghost"}), ("finish", {})]
        calls = [
            ToolCall(id=f"c{turns}{n}", name=name, arguments=json.dumps(own)) for n, (name, own) in enumerate(names)
        ]
        return self._said(tool_calls=tuple(calls))

    @staticmethod
    def _said(**message: Any) -> Reply:
        return Reply(message=Message(role="assistant", **message), usage=Usage(calls=1))


@pytest.fixture(scope="module")
def pubs() -> Graph:
    nodes = [Node("s1", "staff", "Ann Peel"), Node("s2", "staff", "Bill Stokoe")]
    nodes += [
        Node("p1", "pub", "Anchor", "By the quay.", properties={"town": "Holmby"}),
        Node("p2", "pub", "Plough", "A ghost of a drover walks here.", properties={"town": "Saltby"}),
    ]
    return Graph.from_records(nodes, [Edge("p1", "landlord", "s1"), Edge("p2", "landlord", "s2")])


def ask(graph: Graph, question: str, model: Model, **options: Any) -> Any:
    return Retriever(graph, model=model, settings=UNSET, **options).ask(question)


def test_what_rules_read_costs_nothing(pubs: Graph) -> None:
    model = Model(None)
    result = ask(pubs, "How many pubs are there?", model)
    assert (result.answer, result.method, model.calls) == ("2", "reader", [])


def test_what_a_line_says_is_answered_in_one_call(pubs: Graph) -> None:
    model = Model('pub that town = "Saltby"')
    result = ask(pubs, "somewhere to go out at Saltby tonight", model)
    assert (result.answer, result.reading.by, model.calls) == ("Plough", "model", ["line"])


def test_what_names_something_and_has_no_line_is_refused(pubs: Graph) -> None:
    model = Model(None)
    result = ask(pubs, NAMED, model)
    assert (result.answer, result.method, model.calls) == (None, "reader", ["line"])
    assert result.refusal is not None


@pytest.mark.parametrize("line", [None, 'pub that town = "Tarrow"', "pub that number of -landlord-> staff = 0"])
def test_what_names_nothing_goes_on_to_agents_where_there_is_no_line_or_nothing_meets_it(
    pubs: Graph, line: str | None
) -> None:
    model = Model(line)
    result = ask(pubs, DESCRIBED, model)
    assert (result.answer, result.method, result.hits[0].name) == ("Plough", "ark", "Plough")
    assert model.calls[0] == "line"
    assert {"tools", "words"} <= set(model.calls)
    assert any(note.endswith("asked by ark") for note in result.notes)
    assert [one.method for one in result.trajectories][0] == "model"  # the line that was asked for is on record
    assert result.usage.calls == len(model.calls) == sum(one.usage.calls for one in result.trajectories)


def test_what_rules_read_and_nothing_meets_is_answered_so(pubs: Graph) -> None:
    model = Model(None)
    result = ask(pubs, "Which pubs have no landlord?", model)
    assert (result.method, result.reading.by, result.reading.total, model.calls) == ("reader", "rules", 0, [])


def test_nothing_is_answered_over_hits_before_the_other_method_is_asked(pubs: Graph) -> None:
    model = Model(None)
    result = Retriever(pubs, "anchor:ark", model=model, agents=1, settings=UNSET).ask(DESCRIBED)
    assert (result.answer, result.method) == ("Plough", "ark")
    assert model.calls == ["tools", "tools", "words"]


def test_a_choice_between_two_lines_stays_the_persons(pubs: Graph) -> None:
    retriever = Retriever(pubs, "reader:documents", model=Model("pub"), settings=UNSET, check="always")
    result = retriever.ask("How many pubs are there?")
    assert (result.method, len(result.refusal.lines)) == ("reader", 2)


def test_a_model_that_fails_is_not_asked_again(pubs: Graph) -> None:
    result = ask(pubs, DESCRIBED, Model(None, fails=True))
    assert (result.answer, result.method) == (None, "reader")
    assert "nobody is there" in result.refusal.text


def test_a_line_of_ones_own_is_not_asked_of_agents(pubs: Graph) -> None:
    model = Model(None)
    result = Retriever(pubs, model=model, settings=UNSET).ask(DESCRIBED, reading='pub that town = "Tarrow"')
    assert (result.answer, result.method, model.calls) == (None, "reader", [])


def test_one_budget_is_for_both(pubs: Graph) -> None:
    model = Model(None)
    result = ask(pubs, DESCRIBED, model, budget=Budget(calls=3))
    assert result.usage.calls == len(model.calls) <= 3


def test_a_student_that_only_calls_tools_has_agents_at_once(pubs: Graph) -> None:
    retriever = Retriever(pubs, model=Model(None, dialect="terse"), settings=UNSET)
    assert retriever.method.name == "ark"


def test_options_of_the_agents_are_theirs(pubs: Graph) -> None:
    model = Model(None)
    settings = Settings(methods={"ark": {"agents": "1"}})
    result = Retriever(pubs, model=model, settings=settings).ask(DESCRIBED)
    assert model.calls.count("tools") == 2
    assert result.method == "ark"
    again = Model(None)
    ask(pubs, DESCRIBED, again, agents=1)
    assert again.calls.count("tools") == 2
    with pytest.raises(BadOption, match="agens"):
        ask(pubs, DESCRIBED, model, agens=1)


def test_a_folder_of_both_goes_on_to_its_documents(tmp_path: Any) -> None:
    (tmp_path / "both").mkdir()
    (tmp_path / "both" / "notes.md").write_text("# Ferries\n\nThe Night Ferry sails at 22:15 from the old quay.\n")
    (tmp_path / "both" / "boats.csv").write_text("id,name,length\n1,Gull,20\n2,Tern,31\n")
    build_graph([tmp_path / "both"], tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph")
    retriever = Retriever(graph, settings=UNSET)
    assert retriever.method.name in ("anchor:documents", "documents")
    assert Retriever(graph, model=Model(None), settings=UNSET).method.name in ("reader:documents", "documents")

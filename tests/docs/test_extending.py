"""The package that docs/guides/extending.md shows, installed, and each of its six things used."""

import json
import re
import sys
from pathlib import Path

import pytest

from orienteer import (
    Allowance,
    Edge,
    Graph,
    Node,
    Query,
    Retriever,
    ScriptedModel,
    open_base,
    plugins,
    read_questions,
)
from orienteer.errors import BadOption, ModelError, ToolFailed, UnknownNode
from orienteer.lab.evaluation import rank_measure
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.methods import METHODS, method_cards, method_of
from orienteer.serve import main
from orienteer.settings import Settings, read_settings
from orienteer.tools import Toolbox

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "extending.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"^```(text|python)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Give a function that installs a package: a module, and the entry points that it registers."""

    def put(module, source, points, package="shouting"):
        folder = tmp_path / package
        about = folder / f"{package}-1.0.dist-info"
        about.mkdir(parents=True)
        (folder / f"{module}.py").write_text(source, encoding="utf-8")
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
        (about / "entry_points.txt").write_text(points, encoding="utf-8")
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.delitem(sys.modules, module, raising=False)
        plugins._points.cache_clear()

    yield put
    plugins._points.cache_clear()


@pytest.fixture
def shouting(install):
    points = re.sub(r'^\[project\.entry-points\."(.*)"\]$', r"[\1]", BLOCKS["text"], flags=re.MULTILINE)
    install("shouting", BLOCKS["python"], points.replace('"', ""))


@pytest.fixture
def graph(tmp_path):
    nodes = [Node("a", "boat", "FERRY", "a boat"), Node("b", "town", "Basel", "a town")]
    return Graph.from_records(nodes, [Edge("a", "lands", "b")], path=tmp_path / "graph")


def test_its_method_is_listed_and_asked(shouting, graph, capsys):
    assert main(["methods", "--all"]) == 0
    assert re.search(r"(?m)^shout +ranks what a question writes in capitals", capsys.readouterr().out)
    assert list(method_cards()) == [*METHODS, "initials", "shout"]
    assert main(["ask", str(graph.path), "Where does the FERRY land?", "--method", "shout", "--json"]) == 0
    assert [hit["id"] for hit in json.loads(capsys.readouterr().out)["hits"]] == ["a"]
    result = Retriever(graph, "sage:shout", settings=Settings()).search(
        "Where does the FERRY land?", node_types=["boat"]
    )
    assert [hit.id for hit in result.hits] == ["a"]


def test_nothing_of_it_is_imported_before_it_is_asked_for(shouting):
    method_of("anchor")
    with pytest.raises(BadOption, match="Near: shout"):
        method_of("shoutt")
    assert "shouting" not in sys.modules
    assert method_of("shout").load().name == "shout"
    assert "shouting" in sys.modules


def test_its_retriever_is_a_method_and_a_base(shouting, graph, capsys):
    assert main(["ask", str(graph.path), "What begins with an F ?", "--method", "initials", "--json"]) == 0
    [hit] = json.loads(capsys.readouterr().out)["hits"]
    assert (hit["id"], hit["why"]) == ("a", "begins with F")
    assert method_of("graphsearch:initials").name == "graphsearch:initials"
    evidence = open_base("initials", graph).gather(Query("B F"), Allowance())
    assert [node.item.id for node in evidence.nodes] == ["a", "b"]


def test_what_its_retriever_gathered_replays(shouting, graph):
    result = Retriever(graph, "initials", settings=Settings()).search("What begins with an F ?")
    assert [call.is_equal for call in replay_trajectory(result.trajectories[0], graph)] == [True]


@pytest.mark.process
def test_its_data_set_is_read_by_its_name(shouting, graph, tmp_path):
    (tmp_path / "two.riddles").write_text("Where does the FERRY go?|a\nWhere is Basel?|b\n", encoding="utf-8")
    questions = read_questions(tmp_path / "two.riddles", dataset="riddles", graph=graph)
    assert [example.gold.nodes for example in questions.examples] == [{"a": 1.0}, {"b": 1.0}]
    arguments = ["eval", "run", str(graph.path), str(tmp_path / "two.riddles"), "--dataset", "riddles"]
    assert main([*arguments, "--method", "bm25", "-o", str(tmp_path / "run"), "-q"]) == 0
    with pytest.raises(BadOption, match="Did you mean riddles"):
        read_questions(tmp_path / "two.riddles", dataset="ridles")


@pytest.mark.parametrize("group", ["retrievers", "datasets"])
def test_what_is_no_retriever_and_no_data_set_is_told(install, group, tmp_path):
    install("thing", "THING = 3", f"[orienteer.{group}]\nloud = thing:THING\n", package="thing")
    with pytest.raises(BadOption, match=f"'thing' registers the {group.removesuffix('s')} 'loud', and 3 is no"):
        method_of("loud") if group == "retrievers" else read_questions(tmp_path, dataset="loud")


def test_its_importer_reads_files_of_its_suffix(shouting, tmp_path, capsys):
    (tmp_path / "books.ris").write_text("TY  - BOOK\nID  - b1\nTI  - Moby Dick\nER  - \n", encoding="utf-8")
    assert main(["import", str(tmp_path / "books.ris"), "-o", str(tmp_path / "books")]) == 0
    node = Graph.open(tmp_path / "books").node("b1")
    assert (node.type, node.name) == ("BOOK", "Moby Dick")


@pytest.mark.parametrize(
    ("batch", "told"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("Batch({'id': ['a', 'b'], 'name': ['Ada']}, [1, 2])", "lengths: lines 2, id 2, name 1"),
        ("Batch({'id': ['a', 'b'], 'name': ['Ada', 'Ben']}, [1])", "lengths: lines 1, id 2, name 2"),
    ],
)
def test_an_importer_that_fails_is_named_with_its_file(install, tmp_path, capsys, batch, told):
    source = """
from orienteer import Batch, Format

class Broken:
    def columns(self, path):
        return ("id", "name")

    def batches(self, path, *, rows, drop, header):
        yield BATCH

BROKEN = Format("broken", (".brk",), Broken())
"""
    install("breaks", source.replace("BATCH", batch), "[orienteer.importers]\nbrk = breaks:BROKEN\n", package="breaks")
    (tmp_path / "books.brk").write_text("x", encoding="utf-8")
    assert main(["import", str(tmp_path / "books.brk"), "-o", str(tmp_path / "books")]) == 2
    printed = capsys.readouterr().err
    assert "the package 'breaks' registers the importer 'brk', and it failed on" in printed
    assert "books.brk (" in printed
    assert told in printed


def test_a_method_that_fails_is_named_with_its_package(install, graph, capsys):
    source = BLOCKS["python"].replace("rows = [row for", "1 / 0\n        rows = [row for")
    install("shouting", source, "[orienteer.methods]\nshout = shouting:METHOD\n")
    assert main(["ask", str(graph.path), "Where does the FERRY land?", "--method", "shout"]) != 0
    printed = capsys.readouterr().err
    assert "the package 'shouting' registers the method 'shout', and it failed (ZeroDivisionError" in printed


def test_its_tool_is_offered_to_agents_and_replays(shouting, graph):
    def policy(messages, tools, sampling):
        assert "count_words" in [tool.name for tool in tools]
        if any(message.role == "tool" for message in messages):
            return [("finish", {})]
        return [("count_words", {"text": "one two three"}), ("add_to_answer", {"nodes": ["a"], "reasoning": "x"})]

    options = {"agents": 1, "more_tools": ("count_words",)}
    result = Retriever(graph, "ark", model=ScriptedModel(policy), settings=Settings(), **options).search("boats?")
    assert result.trajectories[0].steps[0].observations[0].text == "3 words"
    assert all(call.is_equal for call in replay_trajectory(result.trajectories[0], graph))
    with pytest.raises(BadOption, match="no installed package has a tool 'sing': there are count_words"):
        Toolbox.full(graph, more=["sing"])


def test_its_measure_is_known_by_its_name(shouting):
    assert rank_measure("First")(["b", "a"], {"b": 1.0}) == 1.0
    assert rank_measure("First@5").k == 5
    with pytest.raises(BadOption, match="First"):
        rank_measure("Furst")


def test_a_file_of_the_working_directory_may_name_it(shouting, graph, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "orienteer.toml").write_text('method = "sage:shout"\n', encoding="utf-8")
    retriever = Retriever(graph, settings=read_settings(environment={}, folders=[Path()]))
    assert retriever.method.name == "sage:shout"


def test_its_command_is_run_and_listed(install, capsys):
    source = """
from typing import Annotated
import typer

def pet(out, name: Annotated[str, typer.Argument()]) -> None:
    'Stroke a pet.'
    out.print(f'{name} purrs')

COMMANDS = {"pet": (pet, "pet cat")}
TABLE = {"pets": {"pet": "Stroke a pet."}}
"""
    install("pets", source, "[orienteer.commands]\npets = pets:TABLE\n", package="pets")
    assert main(["pet", "cat"]) == 0
    assert capsys.readouterr().out == "cat purrs\n"
    assert main(["--help"]) == 0
    assert re.search(r"(?m)^  pet +Stroke a pet", capsys.readouterr().out)


def test_a_command_of_ours_is_refused(install, capsys):
    install("thief", "TABLE = {'thief': {'ask': 'Steal.'}}", "[orienteer.commands]\nthief = thief:TABLE\n", "thief")
    assert main(["--help"]) == 2
    assert "'thief' registers the command 'thief', and 'ask' is a command of Orienteer's own" in capsys.readouterr().err


def test_its_reader_reads_documents_of_its_suffix(install, tmp_path, capsys):
    source = """
def read(path):
    title, _, text = path.read_text(encoding="utf-8").partition("::")
    return f"# {title}\\n\\n{text}"

def fail(path):
    return 1 / 0
"""
    install("notes", source, "[orienteer.readers]\nnote = notes:read\nodt = notes:fail\n", package="notes")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "otters.note").write_text("Otters::Otters sleep in rafts of kelp.", encoding="utf-8")
    (tmp_path / "in" / "plain.md").write_text("# Seals\n\nSeals bask on rocks.\n", encoding="utf-8")
    (tmp_path / "in" / "old.odt").write_bytes(b"PK")
    assert main(["build", str(tmp_path / "in"), "-o", str(tmp_path / "graph"), "--embedder", "none"]) == 0
    printed = capsys.readouterr()
    assert "'notes' registers the reader 'odt', and it failed (ZeroDivisionError" in printed.out + printed.err
    result = Retriever(Graph.open(tmp_path / "graph"), settings=Settings()).ask("Where do otters sleep?")
    assert "rafts of kelp" in (result.answer or result.hits[0].text)
    assert result.hits[0].name == "Otters"


def test_its_layout_is_read_as_a_whole(install, tmp_path, capsys):
    source = """
from orienteer.ingest import KnownLayout, Labels

class Pairs:
    def __init__(self, file, split):
        self.files, self.split = (file,), split

    def read(self, builder):
        from orienteer import Node
        names = self.files[0].read_text(encoding="utf-8").split()[: 1 if self.split else None]
        for name in names:
            builder.add_node(Node(name, "pet", name, ""))
        return Labels()

def opened(source, columns, tally, split=""):
    return Pairs(source, split) if source.suffix == ".pets" else None

LAYOUT = KnownLayout(graph=opened, takes=frozenset({"split"}))
"""
    install("pairs", source, "[orienteer.layouts]\npairs = pairs:LAYOUT\n", package="pairs")
    (tmp_path / "all.pets").write_text("cat dog", encoding="utf-8")
    assert main(["import", str(tmp_path / "all.pets"), "-o", str(tmp_path / "graph")]) == 0
    assert sorted(Graph.open(tmp_path / "graph").node_ids()) == ["cat", "dog"]
    assert main(["import", str(tmp_path / "all.pets"), "-o", str(tmp_path / "some"), "--split", "first"]) == 0
    assert list(Graph.open(tmp_path / "some").node_ids()) == ["cat"]
    assert main(["import", str(tmp_path / "all.pets"), "-o", str(tmp_path / "none"), "--private", "name"]) == 2
    assert "--private has no meaning" in capsys.readouterr().err


PARROT = "[orienteer.question_readers]\nparrot = parrots:Parrot\n"
READER = """
from orienteer import Reading, Refusal

class Parrot:
    def __init__(self, graph):
        self.graph = graph

    def read(self, question, run):
        return READ
"""


@pytest.mark.parametrize(
    ("read", "answer", "text"),
    [
        ("Reading(text='count boat')", "1", "count boat"),
        ("Reading(text='count ship')", None, "parrot read it as 'count ship', which is no query of this graph"),
        ("Refusal(kind='not_understood', text='I only repeat')", None, "I only repeat"),
    ],
)
def test_its_question_reader_writes_lines_that_are_checked(install, graph, read, answer, text):
    install(
        "parrots", READER.replace("READ", read), "[orienteer.question_readers]\nparrot = parrots:Parrot\n", "parrots"
    )
    result = Retriever(graph, settings=Settings(), reader="parrot").ask("How many boats?")
    assert result.answer == answer
    assert text in (result.refusal.text if answer is None else result.reading.text)
    assert result.reading.by == "parrot"


@pytest.mark.parametrize(
    ("read", "told"), [("1 / 0", "it failed .ZeroDivisionError"), ("'count boat'", "it returned a str")]
)
def test_a_question_reader_that_fails_is_named(install, graph, read, told):
    install(
        "parrots", READER.replace("READ", read), "[orienteer.question_readers]\nparrot = parrots:Parrot\n", "parrots"
    )
    with pytest.raises(BadOption, match=f"'parrots' registers the question reader 'parrot', and {told}"):
        Retriever(graph, settings=Settings(), reader="parrot").ask("How many boats?")
    with pytest.raises(BadOption, match="no question reader 'carrot': there are rules, model, parrot"):
        Retriever(graph, settings=Settings(), reader="carrot").ask("How many boats?")


ASKER = """
from orienteer import Reading
from orienteer.records import Message

class Asker:
    def __init__(self, graph, model):
        self.model = model

    def read(self, question, run):
        run.check()
        reply = self.model.chat([Message(role="user", content=question)])
        run.charge(reply.usage)
        return Reading(text=reply.message.content)
"""


def test_its_question_reader_asks_the_model_beside_the_rules(install, graph):
    install("askers", ASKER, "[orienteer.question_readers]\nasker = askers:Asker\n", "askers")

    def asked(question, line, method="reader", **options):
        def policy(messages, tools, sampling):
            if line is None:
                raise ModelError("the server is away")
            return line

        options |= {"reader": "asker", "settings": Settings()}
        return Retriever(graph, method, model=ScriptedModel(policy), **options).ask(question)

    read = asked("Whatever floats hereabouts?", "boat")
    assert (read.answer, read.reading.by, read.usage.calls) == ("FERRY", "asker", 1)
    assert asked("Whatever floats hereabouts?", "boat", "auto").reading.by == "asker"
    by_rules = asked("How many boats?", "count boat")
    assert (by_rules.answer, by_rules.reading.by, by_rules.usage.calls) == ("1", "rules", 0)
    both = asked("How many boats?", "count boat", check="always")
    assert (both.answer, both.reading.by, both.reading.agreed) == ("1", "both", True)
    differing = asked("How many boats?", "boat", check="always")
    assert (differing.answer, differing.reading.agreed) == (None, False)
    assert differing.refusal.lines == ("count boat", "boat")
    assert "by the asker: boat" in differing.refusal.text
    unheard = asked("Whatever floats hereabouts?", None)
    assert (unheard.answer, unheard.stopped_by) == (None, "error")
    assert "the asker was not heard: the server is away" in unheard.refusal.text
    kept = asked("How many boats?", None, check="always")
    assert (kept.answer, kept.stopped_by) == ("1", "finish")
    assert any("the asker was not heard: the server is away" in note for note in kept.notes)
    broken = asked("Whatever floats hereabouts?", "ship")
    assert "asker read it as 'ship', which is no query of this graph" in broken.refusal.text


def test_a_question_reader_that_needs_a_model_has_none_by_anchor(install, graph):
    with pytest.raises(BadOption, match="'model' asks a model: give --method reader"):
        Retriever(graph, "anchor", settings=Settings(), reader="model").ask("How many boats?")
    only_rules = Retriever(graph, "reader", model=ScriptedModel(lambda *_: "?"), settings=Settings(), reader="rules")
    assert only_rules.ask("Whatever floats hereabouts?").usage.calls == 0


@pytest.mark.parametrize(
    "source", ["bolt://localhost/films", "s3://graphs/films"], ids=["no database connector", "no store"]
)
def test_an_installation_without_entry_points_is_told(source, monkeypatch, tmp_path):
    monkeypatch.setattr(plugins, "_points", lambda group: ())
    with pytest.raises(BadOption, match="this installation lacks its entry points; install Orienteer again"):
        Retriever(source, settings=Settings(cache=tmp_path))


def test_a_broken_package_is_named(install):
    install("broken", "1 / 0", "[orienteer.methods]\nloud = broken:METHOD\n", package="broken-things")
    with pytest.raises(BadOption, match="'broken-things' registers the method 'loud'.*ZeroDivisionError"):
        method_of("loud")


def test_a_broken_package_leaves_the_others_listed(shouting, install, capsys):
    install("broken", "1 / 0", "[orienteer.methods]\nloud = broken:METHOD\n", package="broken-things")
    assert main(["methods", "--all", "--json"]) == 0
    printed = capsys.readouterr()
    assert {"anchor", "shout"} <= {method["name"] for method in json.loads(printed.out)}
    assert "left out: the package 'broken-things' registers the method 'loud'" in printed.err


def test_a_name_of_ours_is_refused(install):
    install("thief", "METHOD = None", "[orienteer.methods]\nanchor = thief:METHOD\n", package="thief")
    assert method_of("anchor") is METHODS["anchor"]
    with pytest.raises(BadOption, match="'thief' registers the method 'anchor', which is Orienteer's own name"):
        method_of("ancor")


def test_what_is_no_card_is_told(install):
    install("cardless", "METHOD = 3", "[orienteer.methods]\nloud = cardless:METHOD\n", package="cardless")
    with pytest.raises(BadOption, match="'cardless' registers the method 'loud', and 3 is no MethodCard"):
        method_of("loud")


@pytest.mark.parametrize(
    "source", ["TOOL = 3", "def TOOL(session): return 3", "class TOOL:\n    def __init__(self, session): ..."]
)
def test_what_is_no_tool_is_told(install, graph, source):
    install("toolless", source, "[orienteer.tools]\nloud = toolless:TOOL\n", package="toolless")
    with pytest.raises(BadOption, match="'toolless' registers the tool 'loud', and what it names makes no tool"):
        Toolbox.full(graph, more=("loud",))


BROKEN_TOOL = """
from orienteer import Observation, ToolSpec

class Loud:
    spec = ToolSpec(name="loud", description="Shout.", parameters={"type": "object", "properties": {}})

    def __init__(self, session):
        MAKING

    def __call__(self, arguments):
        return CALLING

    def close(self):
        CLOSING
"""


def install_loud(install, making="pass", calling="Observation('LOUD')", closing="pass"):
    source = BROKEN_TOOL.replace("MAKING", making).replace("CALLING", calling).replace("CLOSING", closing)
    install("loud", source, "[orienteer.tools]\nloud = loud:Loud\n", package="loud-things")


@pytest.mark.parametrize(
    ("calling", "fault"), [("1 / 0", "ZeroDivisionError: division by zero"), ("'LOUD'", "returned a str")]
)
def test_a_bug_in_a_tool_is_a_failed_step_that_names_package_and_tool(install, graph, calling, fault):
    install_loud(install, calling=calling)

    def policy(messages, tools, sampling):
        if any(message.role == "tool" for message in messages):
            return [("finish", {})]
        return [("loud", {}), ("add_to_answer", {"nodes": ["a"], "reasoning": "x"})]

    options = {"agents": 1, "more_tools": ("loud",)}
    result = Retriever(graph, "ark", model=ScriptedModel(policy), settings=Settings(), **options).search("boats?")
    failed, chosen = result.trajectories[0].steps[0].observations
    assert failed.error == "ToolFailed"
    assert "the package 'loud-things' registers the tool 'loud'" in failed.text
    assert fault in failed.text
    assert chosen.error is None
    assert [hit.id for hit in result.hits] == ["a"]
    assert any("'loud-things'" in note and fault in note for note in result.notes)
    assert all(call.is_equal for call in replay_trajectory(result.trajectories[0], graph))
    with pytest.raises(ToolFailed, match="'loud-things'.*'loud'"):
        Toolbox.full(graph, more=("loud",)).call("loud", {})


def test_a_tool_that_cannot_be_made_is_named(install, graph):
    install_loud(install, making="raise KeyError('voice')")
    with pytest.raises(BadOption, match="'loud-things' registers the tool 'loud', and .*KeyError: 'voice'"):
        Toolbox.full(graph, more=("loud",))


def test_what_a_tool_refuses_is_told_as_it_says(install, graph):
    install_loud(
        install,
        making="from orienteer.errors import UnknownNode; self.error = UnknownNode('no such boat')",
        calling="(_ for _ in ()).throw(self.error)",
    )
    with pytest.raises(UnknownNode, match="^no such boat$"):
        Toolbox.full(graph, more=("loud",)).call("loud", {})


def test_a_tool_that_does_not_close_in_order_is_named(install, graph):
    install_loud(install, closing="1 / 0")
    with pytest.raises(ToolFailed, match="'loud-things' registers the tool 'loud'.*ZeroDivisionError"):
        Toolbox.full(graph, more=("loud",)).close()


def test_a_name_that_two_packages_have_is_refused(install):
    for package in ("one", "two"):
        install(package, "", f"[orienteer.measures]\nLoud = {package}:loud\n", package=package)
    with pytest.raises(BadOption, match="registers the measure 'Loud', as the package"):
        rank_measure("Loud")

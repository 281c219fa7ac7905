"""A program for each template of GRBench's questions over hetionet, in the sandbox, over the graph as the paper saw it.

The programs (`grbench_programs/`, one a template) are what a good agent of paper 003 would write: they know the names
that a question holds, the rest they ask in Cypher. Data: the 77 biomedical questions all of whose edges are here.

Four of them, all of template 26, say "the exact same symptoms", and the data marks them `answer_reproduced: no`: taken
at its word the question has one answer for each, the disease itself, which only once, by accident, is the number that
was published. What was published counts the diseases that have all symptoms of the one asked for, whatever others they
have too, without it. The program follows that rule and gives all of them; a test holds both readings.
"""

import gzip
import json
import re
from pathlib import Path

import pytest

from hetionet import hetionet
from orienteer.cypher import View
from orienteer.errors import MissingExtra, UnsafeSandbox
from orienteer.tools import CodeConfig, CodeInterpreter, Session

pytestmark = [pytest.mark.data, pytest.mark.slow]
PROGRAMS = Path(__file__).with_name("grbench_programs")
METAEDGES = ("DpS", "CtD", "CpD", "DlA", "DdG", "DaG", "DuG", "CrC", "DrD", "PCiC", "GpPW")
ONE_HOP = (0, 4, 6)
"""Templates that ask for the neighbours of one node only: of their three large edge types its own edges are enough."""
NAMED = {
    0: {"compound": "Compound"},
    1: {"disease": "Disease"},
    4: {"gene": "Gene"},
    6: {"gene": "Gene"},
    7: {"disease": "Disease", "other_disease": "Disease"},
    8: {"anatomy": "Anatomy", "compound": "Compound"},
    9: {"anatomy": "Anatomy", "compound": "Compound"},
    10: {"gene": "Gene", "anatomy": "Anatomy"},
    11: {"gene": "Gene", "anatomy": "Anatomy"},
    12: {"gene": "Gene", "anatomy": "Anatomy"},
    13: {"gene": "Gene"},
    14: {"compound": "Compound"},
    15: {"disease": "Disease"},
    16: {"disease": "Disease"},
    17: {"symptom": "Symptom"},
    18: {"symptom": "Symptom"},
    22: {"symptom": "Symptom"},
    23: {"symptom": "Symptom"},
    24: {"symptom": "Symptom"},
    26: {"disease": "Disease"},
}
"""What a template's questions name, by the variable that its program reads, and the type of node that it is."""


@pytest.fixture(scope="module")
def questions(data_folder):
    file = data_folder / "grbench" / "grbench.jsonl.gz"
    if not file.exists():
        pytest.skip(f"{file} is not here; ORIENTEER_DATA names the folder of data")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row for row in rows if row["domain"] == "biomedical" and row["edges_complete"]]


@pytest.fixture(scope="module")
def names(data_folder):
    """Give the ids of nodes by type and name, the longest names first."""
    parquet = pytest.importorskip("pyarrow.parquet")
    found = {}
    for row in parquet.read_table(
        data_folder / "hetionet" / "nodes.parquet", columns=["id", "name", "kind"]
    ).to_pylist():
        found.setdefault(row["kind"], {})[row["name"]] = row["id"]
    return {kind: {name: known[name] for name in sorted(known, key=len, reverse=True)} for kind, known in found.items()}


@pytest.fixture(scope="module")
def graph(data_folder, tmp_path_factory, questions, names):
    alone = [(one, named(one, names)) for one in questions if one["template"] in ONE_HOP]
    around = [names[NAMED[one["template"]][variable]][name] for one, found in alone for variable, name in found.items()]
    return hetionet(data_folder, tmp_path_factory.mktemp("grbench"), METAEDGES, around)


def named(question, names):
    """Return what a question names: of the names of a type that stand in it, the longest that do not overlap."""
    text, found = question["question"], {}
    for variable, node_type in NAMED[int(question["template"])].items():
        inside = [one for one in names[node_type] if one in text]
        name = next(one for one in inside if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text))
        text = text.replace(name, " ", 1)
        found[variable] = name
    if int(question["template"]) == 13:
        found["symptom_id"] = re.search(r"\bD\d{6}\b", text)[0]
    return found


def is_list(answer, parts):
    """Tell whether an answer is these names in some order, joined by commas; names may hold commas too."""
    if not parts:
        return not answer
    for place, part in enumerate(parts):
        rest = answer.removeprefix(part)
        if rest != answer and rest[:2] in ("", ", ") and is_list(rest[2:], parts[:place] + parts[place + 1 :]):
            return True
    return False


def run(interpreter, question, names):
    """Return the lines that the program of a question printed; the names it is about are set by an earlier run."""
    given = "\n".join(f"{variable} = {name!r}" for variable, name in named(question, names).items())
    assert interpreter({"code": given}).error is None
    reply = interpreter({"code": (PROGRAMS / f"{int(question['template']):02}.py").read_text(encoding="utf-8")})
    assert reply.error is None, reply.text
    assert "was cut" not in reply.text, "what was counted was not all"
    return [line for line in reply.text.splitlines() if not line.startswith("Note: ")]


@pytest.fixture(scope="module")
def opened(graph):
    """Give a function that returns the interpreter of a tier, the same each time."""
    found = {}

    def of(tier):
        try:
            found.setdefault(
                tier, CodeInterpreter(Session(graph), CodeConfig(tier=tier, view=View(label="biomedical")))
            )
        except (MissingExtra, UnsafeSandbox) as error:
            pytest.skip(f"{tier}: {error}")
        return found[tier]

    yield of
    for interpreter in found.values():
        interpreter.close()


@pytest.mark.parametrize(
    ("tier", "template"), [*(("monty", template) for template in NAMED), *(("cpython", one) for one in (7, 13, 22, 26))]
)
def test_the_program_of_a_template_gives_the_published_answers(tier, template, questions, names, opened):
    interpreter = opened(tier)
    asked = [one for one in questions if one["template"] == template]
    assert asked
    wrong = {}
    for question in asked:
        printed = run(interpreter, question, names)
        if not is_list(question["answer"], printed):
            wrong[question["qid"]] = (question["question"], printed, question["answer"])
    assert wrong == {}


def test_the_same_symptoms_are_all_of_one_and_more(graph, questions, names):
    """What the words mean and what the published answers count, from the neighbours themselves, without Cypher."""
    symptoms = {
        node: {hit.id for hit in graph.neighbors(node, edge_types=["DpS"], k=1_000).hits}
        for node in names["Disease"].values()
        if node in graph
    }
    literal, meant = {}, {}
    for question in questions:
        if question["template"] == 26:
            own = symptoms[names["Disease"][named(question, names)["disease"]]]
            literal[question["qid"]] = sum(other == own for other in symptoms.values())
            meant[question["qid"]] = sum(other >= own for other in symptoms.values()) - 1
    published = {one["qid"]: int(one["answer"]) for one in questions if one["template"] == 26}
    assert meant == published
    reproduced = {one["qid"] for one in questions if one["template"] == 26 and one["answer_reproduced"] == "yes"}
    assert set(literal.values()) == {1}  # the disease itself
    assert {qid for qid, number in literal.items() if number == published[qid]} == reproduced
    assert (len(published), len(reproduced)) == (5, 1)


def test_every_question_is_asked(questions):
    assert {one["template"] for one in questions} == set(NAMED)
    assert {int(one.stem) for one in PROGRAMS.glob("*.py")} == set(NAMED)
    assert (len(questions), sum(one["answer_reproduced"] == "yes" for one in questions)) == (77, 73)

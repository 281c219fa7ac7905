"""Questions whether all are so, for the second of an order, for twice as much; words of the other end; roles; units.

The world is small enough that every answer can be read off its tables by eye.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from orienteer import Result, Retriever

TABLES = {
    "departments.csv": """id,name,head_id,budget
D1,Roads,E1,1200 EUR
D2,Parks,E4,800 EUR
""",
    "employees.csv": """id,name,department_id,manager_id,salary,started,approved
E1,Ada Holm,D1,,60000,2001,yes
E2,Ben Ruz,D1,E1,40000,2010,no
E3,Cleo Vik,D1,E1,30000,2010,yes
E4,Dan Orr,D2,,50000,1999,yes
E5,Eve Lund,D2,E4,25000,2015,no
""",
    "projects.csv": """id,name,lead_id,length
P1,Bridge,E1,2 km
P2,Pond,E4,1 km
P3,Kerb,E1,5 km
""",
    "assignments.csv": """employee_id,project_id
E2,P1
E3,P1
E3,P2
E5,P2
E5,P3
""",
}


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    folder = tmp_path_factory.mktemp("council")
    for name, text in TABLES.items():
        (folder / name).write_text(text)
    return Retriever(str(folder), "anchor")


def complete(result: Result) -> set[str]:
    return {hit.name for hit in result.hits if hit.complete}


@pytest.mark.parametrize(
    ("question", "names"),
    [
        # the column `manager_id` names a role: who is managed has it
        ("Which employees are managed by Ada Holm?", {"Ben Ruz", "Cleo Vik"}),
        ("Who manages Eve Lund?", {"Dan Orr"}),
        ("Who reports to Ada Holm?", {"Ben Ruz", "Cleo Vik"}),
        ("Which projects are led by Ada Holm?", {"Bridge", "Kerb"}),
        ("projects lead Ada Holm", {"Bridge", "Kerb"}),
        # who is in a department need not be its head, and who is on a project need not lead it
        ("employees in Roads", {"Ada Holm", "Ben Ruz", "Cleo Vik"}),
        ("Who works on the Bridge?", {"Ben Ruz", "Cleo Vik"}),
        ("Ada Holm's department's head", {"Ada Holm"}),
        ("employees on more than one project", {"Cleo Vik", "Eve Lund"}),
        # an order
        ("Who has the second highest salary?", {"Dan Orr"}),
        ("the second longest project", {"Bridge"}),
        ("Which employee earns the third most?", {"Ben Ruz"}),
        ("Which employee earns the sixth most?", set()),
        # numbers with their units
        ("Which project is the longest?", {"Kerb"}),
        ("projects longer than 1.5 km", {"Bridge", "Kerb"}),
        ("projects more than twice as long as Bridge", {"Kerb"}),
        ("projects at least twice as long as Pond", {"Bridge", "Kerb"}),
        ("employees who started within 2 years of 2000", {"Ada Holm", "Dan Orr"}),
        # the last word of a clause, and what is said of its subject behind it
        ("Which projects do employees work on who are managed by Dan Orr?", {"Pond", "Kerb"}),
        ("projects of employees who are managed by Ada Holm", {"Bridge", "Pond"}),
        # yes and no
        ("Which employees are not approved?", {"Ben Ruz", "Eve Lund"}),
        ("unapproved employees", {"Ben Ruz", "Eve Lund"}),
        ("Are there any employees who are not approved? Which ones?", {"Ben Ruz", "Eve Lund"}),
    ],
)
def test_nodes_are_found_by_new_forms(ask: Retriever, question: str, names: set[str]) -> None:
    result = ask.ask(question)
    assert complete(result) == names, result.reading
    assert result.reading is not None
    assert result.reading.complete


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is every employee in Parks approved?", "no"),  # Eve is not
        ("Do all employees in Roads have a salary?", "yes"),
        ("Are all projects led by Ada Holm longer than 1 km?", "yes"),
        ("Are all projects led by Ada Holm longer than 3 km?", "no"),
        ("Is Ben Ruz managed by Ada Holm?", "yes"),
        ("Is Ada Holm managed by Ben Ruz?", "no"),
        ("Which is longer, Pond or Kerb?", "Kerb"),
        ("How long is Bridge in km?", "2"),
        ("How many employees are there in the Roads department?", "3"),
        ("What is the total budget of all departments?", "2000"),
    ],
)
def test_answers_are_given_by_new_forms(ask: Retriever, question: str, answer: str) -> None:
    result = ask.ask(question)
    assert result.answer == answer, (result.reading, result.notes)


def test_a_no_of_all_shows_those_of_which_it_is_not_so(ask: Retriever) -> None:
    result = ask.ask("Is every employee in Parks approved?")
    assert complete(result) == {"Eve Lund"}
    assert any("do not meet it" in note for note in result.notes)


def test_of_all_nothing_is_told_where_some_have_no_value(tmp_path: Path) -> None:
    (tmp_path / "halls.csv").write_text("id,name,material\nh1,Old Hall,stone\nh2,New Hall,\n")
    result = Retriever(str(tmp_path), "anchor").ask("Is every hall made of stone?")
    assert result.answer is None
    assert any("no value" in note for note in result.notes)


def test_nobody_is_second_where_two_are_first(ask: Retriever) -> None:
    result = ask.ask("Which employee started second latest?", reading="most place 3 by started of employee")
    assert result.answer is None  # two started in 2010: neither is third alone
    assert any("alone in place 3" in note for note in result.notes)


@pytest.mark.parametrize(
    "line",
    [
        'whether every employee that -department-> "Parks" meets approved = "yes"',
        "most place 2 by salary of employee",
    ],
)
def test_the_lines_of_new_forms_are_read_back(ask: Retriever, line: str) -> None:
    result = ask.ask("put right by hand", reading=line)
    assert result.reading is not None
    assert result.reading.text == line


def test_what_is_no_kind_by_one_step_may_be_one_by_several(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,name\na,asthma\nb,lung disease\nc,disease of the body\n")
    (tmp_path / "edges.csv").write_text("source,type,target\na,is_a,b\nb,is_a,c\n")
    anchor = Retriever(str(tmp_path), "anchor")
    assert anchor.ask("Is asthma a kind of lung disease?").answer == "yes"
    assert complete(anchor.ask("Which kinds of lung disease are there?")) == {"asthma"}
    result = anchor.ask("Is asthma a kind of disease of the body?")
    assert result.answer is None  # it is one, over two steps, which are not walked
    assert any("several steps" in note for note in result.notes)


FILMS = {
    "nodes.csv": """id,type,name,runtime_min,is_animated
f1,film,Salt,90,no
f2,film,Ferry,120,no
f3,film,Kites,60,yes
f4,film,Fog,100,no
p1,person,Ada Holm,,
p2,person,Noor Vik,,
p3,person,Ben Ruz,,
g1,genre,Drama,,
g2,genre,Comedy,,
g3,genre,War,,
a1,award,Golden Heron,,
c1,city,Cork,,
""",
    "edges.csv": """source,type,target
f1,directed_by,p1
f2,directed_by,p1
f3,directed_by,p2
f4,directed_by,p3
p2,acted_in,f1
p2,acted_in,f2
p1,acted_in,f4
f1,has_genre,g1
f2,has_genre,g1
f2,has_genre,g3
f3,has_genre,g2
f4,has_genre,g3
f1,won,a1
p1,born_in,c1
p2,influenced_by,p1
""",
}


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    folder = tmp_path_factory.mktemp("pictures")
    for name, text in FILMS.items():
        (folder / name).write_text(text)
    return Retriever(str(folder), "anchor")


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which actors were born in Cork?", {"Ada Holm"}),
        ("directors with more than one film", {"Ada Holm"}),
        ("Which directors have never acted in a film?", {"Ben Ruz"}),
        ("films by director Ada Holm", {"Salt", "Ferry"}),
        ("films director Ada Holm or Noor Vik", {"Salt", "Ferry", "Kites"}),
        ("Which films are dramas?", {"Salt", "Ferry"}),
        ("Which films are neither dramas nor comedies?", {"Fog"}),
        ("Which films are both war and drama?", {"Ferry"}),
        ("all films except the dramas", {"Kites", "Fog"}),
        ("Which films did not win any award?", {"Ferry", "Kites", "Fog"}),
        ("films no award", {"Ferry", "Kites", "Fog"}),
        ("Who shaped Noor Vik?", {"Ada Holm"}),
        ("the longer of Salt and Ferry", {"Ferry"}),
        ("Which film has the longer runtime, Salt or Fog?", {"Fog"}),
        ("drama films highest runtime", {"Ferry"}),
        ("top 2 films runtime", {"Ferry", "Fog"}),
        ("Who directed the film that won the Golden Heron?", {"Ada Holm"}),
        ("Who directed films which Noor Vik acted in?", {"Ada Holm"}),  # the films are what he acted in
        ("animated films", {"Kites"}),
    ],
)
def test_roles_and_classes_are_read(films: Retriever, question: str, names: set[str]) -> None:
    result = films.ask(question)
    assert complete(result) == names, (result.reading, result.notes)


@pytest.mark.parametrize(
    "question",
    [
        "Which films by Ada Holm went unawarded?",  # no word of the graph says `unawarded`
        "Which films did Ada Holm help?",  # she directed some and acted in others
        "Salt's people",
        "all dramas long?",
    ],
)
def test_what_no_word_tells_is_refused(films: Retriever, question: str) -> None:
    result = films.ask(question)
    assert result.answer is None
    assert result.refusal is not None, result.reading

"""Only what is asked for, all of what nodes have, and the largest by what it is told: against plain Python."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from orienteer import Graph, Retriever
from orienteer.records import Edge, Node, Result

KEEPERS = ("Abel Crew", "Ida Crew", "Marl Crew", "Noor Crew")
FIELDS = ("Optics", "Sound", "Weather")


@dataclass
class Library:
    """Modules that import one another, each with one keeper, one field and a size."""

    anchor: Retriever
    size: dict[str, int]
    keeper: dict[str, str]
    field: dict[str, str]
    imports: dict[str, set[str]]

    def asked(self, question: str) -> Result | None:
        """Return the answer to a question; None where it is refused."""
        result = self.anchor.ask(question, k=100)
        return result if result.reading is not None and result.reading.complete else None

    def within(self, field: str) -> set[str]:
        return {module for module, own in self.field.items() if own == field}

    def kept(self, keeper: str) -> set[str]:
        return {module for module, own in self.keeper.items() if own == keeper}

    def importers(self, module: str) -> set[str]:
        return {other for other, imported in self.imports.items() if module in imported}


@pytest.fixture(scope="module", params=range(4))
def library(request: pytest.FixtureRequest) -> Library:
    chance = random.Random(request.param)
    modules = [*(f"mod-{letter}" for letter in "abcdefghijklmno")]
    size = {module: number for module, number in zip(modules, chance.sample(range(100, 999), 15), strict=True)}
    keeper = {module: chance.choice(KEEPERS) for module in modules}
    field = {module: FIELDS[KEEPERS.index(keeper[module]) % 3] for module in modules}
    field |= {module: chance.choice(FIELDS) for module in chance.sample(modules, 4)}
    imports = {module: set(chance.sample(modules, chance.randrange(3))) - {module} for module in modules}
    nodes = [Node(module, "module", module, properties={"size_kb": size[module]}) for module in modules]
    nodes += [Node(f"k:{name}", "keeper", name) for name in KEEPERS] + [
        Node(f"f:{name}", "field", name) for name in FIELDS
    ]
    edges = [Edge(module, "kept_by", f"k:{keeper[module]}") for module in modules]
    edges += [Edge(module, "in_field", f"f:{field[module]}") for module in modules]
    edges += [Edge(module, "imports", other) for module in modules for other in sorted(imports[module])]
    return Library(Retriever(Graph.from_records(nodes, edges), method="anchor"), size, keeper, field, imports)


def only(library: Library) -> Iterator[tuple[str, set[str]]]:
    """Yield questions for what has nothing but things of a field, with the names asked for."""
    for field in FIELDS:
        own = library.within(field)
        keepers = {keeper for keeper in KEEPERS if library.kept(keeper) and library.kept(keeper) <= own}
        yield f"Which keepers keep only modules in field {field}?", keepers
        yield f"keepers whose every module is in field {field}", keepers
        yield f"Which keepers have all their modules in field {field}?", keepers
        importers = {module for module, imported in library.imports.items() if imported and imported <= own}
        yield f"Which modules import only modules in field {field}?", importers
        yield f"modules whose every import is in field {field}", importers
        yield f"Which modules have all their imports in field {field}?", importers
        users = {module: library.importers(module) for module in library.size}
        yield (
            f"Which modules are imported only by modules in field {field}?",
            {module for module, by in users.items() if by and by <= own},
        )
    for module in ("mod-a", "mod-b"):
        alone = {other for other in library.size if library.importers(other) == {module}}
        yield f"Which modules are imported only by {module}?", alone


def largest(library: Library) -> Iterator[tuple[str, set[str]]]:
    """Yield questions for the largest of some modules, by the property that tells it."""
    scopes = [(f"in field {field}", library.within(field)) for field in FIELDS]
    scopes += [(f"kept by {keeper}", library.kept(keeper)) for keeper in KEEPERS]
    for scope, modules in scopes:
        top = {max(modules, key=library.size.__getitem__)} if modules else set()
        yield f"largest module {scope} by size", top
        yield f"the biggest module {scope} by size kb", top
        yield f"Which module is the biggest {scope} by size?", top


@pytest.mark.parametrize("questions", [only, largest])
def test_what_is_answered_is_so(library: Library, questions: object) -> None:
    read = 0
    assert callable(questions)
    for question, wanted in questions(library):
        result = library.asked(question)
        if result is None:
            continue
        read += 1
        assert {hit.name for hit in result.hits if hit.complete} == wanted, (question, result.reading)
        assert result.answer is None or all(name in result.answer for name in wanted), (question, result.answer)
    assert read, questions


@pytest.mark.parametrize(
    "question",
    [
        "{} per field",
        "{} for each field",
        "{} of each keeper",
        "Which keeper has {} per field?",
        "{} per keeper",
        "In each field, what is {}?",
    ],
)
def test_the_largest_of_each_is_no_count(library: Library, question: str) -> None:
    result = library.asked(question.format("the largest module"))
    assert result is None, result.reading


@pytest.mark.parametrize("question", ["Which modules have all the imports that mod-a has?", "modules with all imports"])
def test_all_that_are_not_said_to_be_theirs_are_refused(library: Library, question: str) -> None:
    result = library.asked(question)
    assert result is None, result.reading

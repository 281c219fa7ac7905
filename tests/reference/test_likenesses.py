"""What is compared with another node, and what several have together: golds by sets over the tables, not by us."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orienteer import Graph, Retriever

CLUBS = {
    "Ann Oak": {"chess", "rowing"},
    "Ben Ash": {"rowing", "chess"},
    "Cid Elm": {"chess"},
    "Dot Yew": {"chess", "rowing", "fencing"},
    "Eve Fir": {"fencing"},
}
TOWNS = {"Ann Oak": "Wick", "Ben Ash": "Holt", "Cid Elm": "Wick", "Dot Yew": "Holt", "Eve Fir": "Wick"}
HEIGHTS = {"Ann Oak": 170, "Ben Ash": 182, "Cid Elm": 170, "Dot Yew": 165}
COLOURS = {"Ann Oak": "green", "Ben Ash": "red", "Cid Elm": "red", "Dot Yew": "blue", "Eve Fir": "green"}
JOINED = {"Ann Oak": 2004, "Ben Ash": 2009, "Cid Elm": 2004, "Dot Yew": 2012, "Eve Fir": 1999}


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    def properties(name: str) -> dict[str, object]:
        height = {"height_cm": HEIGHTS[name]} if name in HEIGHTS else {}
        return {"colour": COLOURS[name], "joined_year": JOINED[name], **height}

    nodes = [{"id": name, "type": "player", "name": name, "properties": properties(name)} for name in CLUBS]
    nodes += [{"id": club, "type": "club", "name": f"{club} circle"} for club in ("chess", "rowing", "fencing")]
    nodes += [{"id": town, "type": "town", "name": town} for town in ("Wick", "Holt")]
    edges = [{"source": name, "type": "member_of", "target": club} for name in CLUBS for club in sorted(CLUBS[name])]
    edges += [{"source": name, "type": "lives_in", "target": town} for name, town in TOWNS.items()]
    path = tmp_path_factory.mktemp("players") / "graph"
    return Retriever(Graph.from_records(nodes, edges, path=path), "anchor")


def others(name: str, holds: Callable[[str], bool]) -> set[str]:
    """Return who else it holds for."""
    return {other for other in CLUBS if other != name and holds(other)}


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("players with twice as many clubs as Cid Elm", others("Cid Elm", lambda x: len(CLUBS[x]) == 2)),
        ("Which players live in the same town as Ann Oak?", others("Ann Oak", lambda x: TOWNS[x] == "Wick")),
        ("players sharing a town with Ann Oak", others("Ann Oak", lambda x: TOWNS[x] == "Wick")),
        ("Who else lives where Ann Oak lives?", others("Ann Oak", lambda x: TOWNS[x] == "Wick")),
        (
            "Which players are members of exactly the same clubs as Ann Oak?",
            others("Ann Oak", lambda x: CLUBS[x] == CLUBS["Ann Oak"]),
        ),
        (
            "players with an identical set of clubs to Ann Oak",
            others("Ann Oak", lambda x: CLUBS[x] == CLUBS["Ann Oak"]),
        ),
        (
            "Which other players are members of every club that Ann Oak is a member of?",
            others("Ann Oak", lambda x: CLUBS[x] >= CLUBS["Ann Oak"]),
        ),
        ("players that are members of only the chess circle", {"Cid Elm"}),
        ("Who shares a club with Eve Fir?", others("Eve Fir", lambda x: bool(CLUBS[x] & CLUBS["Eve Fir"]))),
        (
            "players who are members of more clubs than Ann Oak",
            others("Ann Oak", lambda x: len(CLUBS[x]) > len(CLUBS["Ann Oak"])),
        ),
        (
            "players with as many clubs as Ann Oak",
            others("Ann Oak", lambda x: len(CLUBS[x]) == len(CLUBS["Ann Oak"])),
        ),
        (
            "players who do not have as many clubs as Ann Oak",
            others("Ann Oak", lambda x: len(CLUBS[x]) < len(CLUBS["Ann Oak"])),
        ),
        ("players of the same colour as Cid Elm", others("Cid Elm", lambda x: COLOURS[x] == COLOURS["Cid Elm"])),
        ("players taller than Ann Oak", {x for x, height in HEIGHTS.items() if height > 170}),
        ("players at least as tall as Ann Oak", {x for x, height in HEIGHTS.items() if height >= 170} - {"Ann Oak"}),
        ("players not as tall as Ann Oak", {x for x, height in HEIGHTS.items() if height < 170}),
        ("players who joined before Ben Ash did", {x for x, year in JOINED.items() if year < 2009}),
        ("players who joined in the same year as Ann Oak", others("Ann Oak", lambda x: JOINED[x] == 2004)),
        ("clubs that Ann Oak and Dot Yew have in common", {"chess circle", "rowing circle"}),
        ("Which clubs do Ann Oak and Cid Elm share?", {"chess circle"}),
        ("common clubs of Ann Oak and Ben Ash", {"chess circle", "rowing circle"}),
        ("clubs common to Ben Ash and Dot Yew", {"chess circle", "rowing circle"}),
    ],
)
def test_what_another_node_has_is_compared_with(ask: Retriever, question: str, names: set[str]) -> None:
    result = ask.ask(question)
    assert result.reading is not None
    assert result.reading.complete, result.notes
    assert {hit.name for hit in result.hits if hit.complete} == names, result.reading.text
    again = ask.ask("put right by hand", reading=result.reading.text)
    assert {hit.name for hit in again.hits if hit.complete} == names


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Do Ann Oak and Cid Elm live in the same town?", "yes"),
        ("Do Ann Oak and Ben Ash share a town?", "no"),
        ("Does Ann Oak have the same colour as Eve Fir?", "yes"),
        ("How many clubs do Ann Oak and Dot Yew have in common?", "2"),
    ],
)
def test_two_are_compared_with_one_another(ask: Retriever, question: str, answer: str) -> None:
    assert ask.ask(question).answer == answer


@pytest.mark.parametrize(
    "question",
    [
        "common clubs of Ann Oak",  # of one alone, `common` says something else
        "players taller than Eve Fir",  # nothing is told of her
        "Does any player live in both Holt and Wick?",  # whoever says both of what one has one of means either, or none
        "clubs of each player",
    ],
)
def test_what_nothing_tells_is_refused(ask: Retriever, question: str) -> None:
    result = ask.ask(question)
    assert result.reading is not None
    assert not result.reading.complete, result.reading.text


@pytest.mark.parametrize(
    "opening",
    [
        "Would you be so kind as to tell me how many players live in Wick?",
        "I was wondering how many players live in Wick, thanks.",
        "According to the data, how many players live in Wick?",
        "How many players, if any, currently live in Wick, please?",
        "What I'd like to know is how many players live in Wick, all in all.",
    ],
)
def test_polite_words_say_nothing(ask: Retriever, opening: str) -> None:
    assert ask.ask(opening).answer == str(sum(town == "Wick" for town in TOWNS.values()))


def test_a_decade_is_ten_years_and_what_is_not_told_is_not_denied(ask: Retriever) -> None:
    decade = ask.ask("players who joined in the 2000s")
    assert decade.reading is not None
    assert not decade.reading.complete  # ten years or a hundred
    nineties = ask.ask("players who joined in the 1990s")
    assert {hit.name for hit in nineties.hits if hit.complete} == {"Eve Fir"}
    short = ask.ask("players whose height is not over 170 cm")
    assert {hit.name for hit in short.hits if hit.complete} == {x for x, height in HEIGHTS.items() if height <= 170}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is Ann Oak's colour green?", "yes"),
        ("Is the colour of Ann Oak red?", "no"),
        ("Is the height of Ben Ash over 180 cm?", "yes"),
        ("Is the height of Eve Fir over 180 cm?", None),  # it is not told
        ("Isn't Ann Oak taller than Dot Yew?", "yes"),
        ("Is Ann Oak's town Wick?", "yes"),
        ("Is Holt the town of Ann Oak?", "no"),
        ("Is Ann Oak a club?", "no"),
        ("Does anyone live in Holt?", "yes"),
        ("Did Ann Oak and Cid Elm join in the same year?", "yes"),
        ("Are the players red?", None),  # all of them, or some?
    ],
)
def test_what_is_claimed_of_one_is_checked(ask: Retriever, question: str, answer: str | None) -> None:
    assert ask.ask(question).answer == answer


def test_what_two_have_in_common_is_what_any_edge_joins_to_both(ask: Retriever) -> None:
    result = ask.ask("What do Ann Oak and Cid Elm have in common?")
    assert {hit.name for hit in result.hits if hit.complete} == {"chess circle", "Wick"}
    assert result.reading is not None
    assert result.reading.text == 'anything that -- "Ann Oak" and -- "Cid Elm"'

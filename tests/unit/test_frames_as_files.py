"""Data frames are read as their files: totals, dates that tell no day from month, numbers, and who has none."""

from __future__ import annotations

import random
from pathlib import Path

import pandas as pd
import pytest

from orienteer import Graph, Retriever

SEEDS = range(4)
"""Generated libraries."""
NAMES = ("Ada Holm", "Bo Lind", "Cora Vance", "Dan Wirth", "Eva Brandt", "Finn Olsen")


def _library(seed: int) -> dict[str, pd.DataFrame]:
    """Return members, and loans with a fine each that end with their total."""
    rng = random.Random(seed)
    count = rng.randint(9, 20)
    members = pd.DataFrame({"Member": [f"M{n:03}" for n in range(len(NAMES))], "Name": NAMES})
    own = [f"M{rng.randrange(len(NAMES) - 1):03}" for _ in range(count)]
    fines = [rng.choice((0.25, 0.5, 1.75, 2.0)) for _ in range(count)]
    loans = pd.DataFrame({"Loan": [f"L{n:02}" for n in range(count)], "Member": own, "Fine": fines})
    total = pd.DataFrame({"Loan": [rng.choice(("Total", "Sum", "Grand total"))], "Fine": [sum(fines)]})
    return {"members": members, "loans": pd.concat([loans, total], ignore_index=True)}


def _answer(shop: Retriever, question: str) -> str | None:
    return shop.ask(question).answer


@pytest.mark.parametrize("seed", SEEDS)
def test_frames_give_what_their_files_give(seed: int, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    frames = _library(seed)
    for name, frame in frames.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    loans = frames["loans"].dropna(subset=["Member"])
    by_files = Retriever(Graph.from_csv(tmp_path, path=tmp_path / "graph"))
    caplog.clear()
    by_frames = Retriever(Graph.from_frames(frames))
    assert any("dropped 1 total" in record.getMessage() for record in caplog.records)
    for shop in (by_files, by_frames, Retriever(frames)):
        assert _answer(shop, "How many loans are there?") == str(len(loans))
        assert float(_answer(shop, "What is the total fine of the loans?") or "nan") == pytest.approx(loans.Fine.sum())
    alone = Retriever(frames["loans"])
    assert _answer(alone, "How many rows are there?") == str(len(loans))


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_totals_of_typed_files_are_left_out(suffix: str, tmp_path: Path) -> None:
    loans = _library(1)["loans"]
    path = tmp_path / f"loans{suffix}"
    if suffix == ".jsonl":
        loans.to_json(path, orient="records", lines=True)
    else:
        loans.to_parquet(path)
    graph = Graph.from_csv(tmp_path, path=tmp_path / "graph")
    own = set(loans.Loan[loans.Member.notna()])
    assert own <= set(graph.node_ids()) | {graph.node(one).name for one in graph.node_ids()}
    assert not any(graph.node(one).name in ("Total", "Sum", "Grand total") for one in graph.node_ids())


def test_a_thing_that_is_called_like_a_total_stays() -> None:
    songs = pd.DataFrame({"song": ["Ash", "Total"], "band": ["Nine Oaks", "Nine Oaks"], "plays": [4, 9]})
    some = pd.DataFrame({"song": ["Ash", "Birch", "Cedar of the north wind"], "band": ["X", "Y", None]})
    for frame in (songs, some):
        graph = Graph.from_frames({"song": frame})
        assert set(frame.song) <= {graph.node(one).name for one in graph.node_ids()}


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_say_who_has_none(seed: int) -> None:
    frames = _library(seed)
    counts = frames["loans"].Member.value_counts()
    lacking = [name for number, name in enumerate(NAMES) if f"M{number:03}" not in counts]
    result = Retriever(frames).ask("How many loans does each member have?")
    assert result.table is not None
    told = {str(name): number for name, number in result.table.rows}
    assert told == {name: counts[f"M{n:03}"] for n, name in enumerate(NAMES) if name not in lacking}
    [note] = [note for note in result.notes if " none: " in note]
    assert note.startswith(f"{len(lacking)} member")
    assert all(name in note for name in lacking[:3])
    assert any(" none: " in note for note in Retriever(frames).ask("total fine per member").notes)


@pytest.mark.parametrize("lone", ["05/03/2024", "3/4/2024", "11-12-2024"])
def test_a_lone_date_that_tells_no_day_from_month_is_no_date(lone: str, tmp_path: Path) -> None:
    days = pd.date_range("2024-01-05", periods=9, freq="11D").strftime("%Y-%m-%d").tolist()
    loans = pd.DataFrame({"Loan": [f"L{n}" for n in range(10)], "Borrowed": [*days, lone]})
    loans.to_csv(tmp_path / "loans.csv", index=False)
    for shop in (Retriever(Graph.from_csv(tmp_path, path=tmp_path / "graph")), Retriever({"loans": loans})):
        result = shop.ask("When was L9 borrowed?")
        assert result.answer is None
        assert any(lone in note for note in result.notes)
        before = shop.ask("Which loans were borrowed before 2024-12-31?")
        assert any("this was open when the tables were read" in note and lone in note for note in before.notes)


def test_a_lone_date_is_read_where_another_column_proves_the_order() -> None:
    days = pd.date_range("2024-01-05", periods=9, freq="11D").strftime("%Y-%m-%d").tolist()
    proved = [f"{day}/02/2024" for day in range(11, 21)]
    loans = pd.DataFrame({"Loan": [f"L{n}" for n in range(10)], "Borrowed": [*days, "05/03/2024"], "Due": proved})
    assert _answer(Retriever({"loans": loans}), "When was L9 borrowed?") == "2024-03-05"


def test_an_answer_that_rests_on_a_guessed_order_says_so() -> None:
    loans = pd.DataFrame({"Loan": ["L0", "L1", "L2"], "Borrowed": ["05/03/2024", "06/04/2024", "07/05/2024"]})
    result = Retriever({"loans": loans}).ask("When was L1 borrowed?")
    assert result.answer is not None
    assert any("no day is over 12" in note for note in result.notes)


@pytest.mark.parametrize(
    ("fees", "kept"),
    [
        (["0", "1.60", "€3.00", "0.40", "2"], {"fee_eur": [0, 1.6, 3.0, 0.4, 2]}),
        (["0", "1.60", "1,60", "€3.00", "0.40"], {"fee_eur": [0, 1.6, 3.0, 0.4], "fee_text": ["1,60"]}),
        (["1.60", "1,60", "2,50", "2.75"], {"fee": ["1.60", "1,60", "2,50", "2.75"]}),
    ],
)
def test_prices_are_numbers_or_asked_about(
    fees: list[str], kept: dict[str, list[object]], caplog: pytest.LogCaptureFixture
) -> None:
    frame = pd.DataFrame({"bill": [f"B{n}" for n in range(len(fees))], "fee": fees})
    graph = Graph.from_frames({"bills": frame})
    found: dict[str, list[object]] = {}
    for one in graph.node_ids():
        for name, value in graph.node(one).properties.items():
            found.setdefault(name, []).append(value)
    assert {name: own for name, own in found.items() if name in kept} == kept
    is_mixed = any("," in fee for fee in fees)
    assert is_mixed == any("fee" in record.getMessage() for record in caplog.records if "open" in record.getMessage())


def _trials() -> Retriever:
    """Return drugs with effects, one with none; two effects share a part of their names, and two kinds of edges."""
    drugs = pd.DataFrame({"id": ["d1", "d2", "d3"], "name": ["Arlen", "Borix", "Cavol"], "type": "drug"})
    named = ["Body hair loss", "Early hair loss", "Nausea"]
    effects = pd.DataFrame({"id": ["e1", "e2", "e3"], "name": named, "type": "effect"})
    edges = [("d1", "e1", "causes"), ("d2", "e2", "causes"), ("d2", "e3", "causes"), ("d1", "e3", "eases")]
    return Retriever(
        Graph.from_frames(
            {"nodes": pd.concat([drugs, effects]), "edges": pd.DataFrame(edges, columns=["source", "target", "type"])}
        )
    )


def test_a_part_of_several_names_is_no_name() -> None:
    trials = _trials()
    refused = trials.ask("Which drugs cause hair loss?")
    assert refused.answer is None
    assert refused.refusal is not None
    assert "Body hair loss" in refused.refusal.text
    assert "Early hair loss" in refused.refusal.text
    assert _answer(trials, "Which drugs cause Body hair loss?") == "Arlen"


def test_edges_that_may_be_meant_are_named_and_suggestions_are_plural() -> None:
    refused = _trials().ask("How many effects per drug?").refusal
    assert refused is not None
    assert "causes, eases" in refused.text
    assert "'per'" not in refused.text
    assert "How many drugs?" in refused.questions


def test_the_fewest_say_how_many_have_any() -> None:
    result = _trials().ask("Which drug causes the fewest effects?")
    assert any(note.startswith("2 of 3 nodes have any") for note in result.notes)

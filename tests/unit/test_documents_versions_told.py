"""Which of several documents is the newest, in folders that a reviewer made to be taken wrongly; and near copies."""

from __future__ import annotations

from pathlib import Path

import pytest

from orienteer import BuildOptions, Graph, Result, Retriever, build_graph

DECIDED = "# Minutes\n\nThe board decided to paint the hall {}.\n"


def asked(folder: Path, files: dict[str, str], question: str) -> Result:
    for name, text in files.items():
        (folder / "files" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "files" / name).write_text(text, encoding="utf-8")
    build_graph([folder / "files"], folder / "graph", options=BuildOptions())
    return Retriever(Graph.open(folder / "graph"), "documents").ask(question)


@pytest.mark.parametrize(
    ("names", "question", "said"),
    [
        (("minutes 2026-01-20.md", "minutes 2026-02-03.md", "minutes 2026-5-11.md"), "the latest minutes", "colour 2"),
        (("minutes 2026-01-20.md", "minutes 2026-02-03.md", "minutes 2026.md"), "the latest minutes", None),
        (("archive 2026-06-01/minutes 2025-01-10.md", "now/minutes 2026-01-15.md"), "the latest minutes", "colour 1"),
        (
            ("Board 2025-2026/minutes 2025-10-10.md", "Board 2025-2026/minutes 2026-01-15.md"),
            "the last minutes",
            "colour 1",
        ),
        (("minutes 2024.md", "minutes 2026.md", "house minutes.md"), "the newest minutes", "colour 1"),
        (("minutes v1.md", "minutes v2.md", "boat minutes v3.md"), "the newest minutes", "colour 1"),
        (("minutes 2024.md", "minutes 2026.md"), "the meeting before the latest minutes", None),
    ],
)
def test_the_newest_is_told_by_what_tells_it(
    tmp_path: Path, names: tuple[str, ...], question: str, said: str | None
) -> None:
    files = {name: DECIDED.format(f"in colour {at}") for at, name in enumerate(names)}
    result = asked(tmp_path, files, f"What did the board decide in {question}?")
    assert (result.answer is None) if said is None else (said in (result.answer or "")), result.notes


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What are the newest members?", "The newest members are Dora and Eva Kranz."),
        ("Who are the newest members?", "The newest members are Dora and Eva Kranz."),
        ("What is the current of the motor?", " A."),
    ],
)
def test_what_the_texts_call_newest_or_current_is_no_version(tmp_path: Path, question: str, said: str) -> None:
    files = {
        "members 2025.md": "# Members\n\nThe members are Ada, Bob and Carl. The newest member is Carl.\n",
        "members 2026.md": "# Members\n\nThe members are Ada and Bob. The newest members are Dora and Eva Kranz.\n",
        "motor_v1.md": "# Motor\n\nThe current of the motor is 5 A.\n",
        "motor_v2.md": "# Motor\n\nThe current of the motor is 7 A.\n",
    }
    assert said in (asked(tmp_path, files, question).answer or "")


def test_two_versions_in_one_question_are_refused(tmp_path: Path) -> None:
    files = {"tariff_v1.md": "# Tariff\n\nDogs pay 3 euros.\n", "tariff_v2.md": "# Tariff\n\nDogs pay 5 euros.\n"}
    question = "How does the fee differ between the newest version of the tariff and the first version of the tariff?"
    result = asked(tmp_path, files, question)
    assert result.answer is None
    assert result.refusal is not None
    assert "two versions" in result.refusal.text


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is the time of check-in?", "15:00"),
        ("How many berths has Skarn-at-Sea?", None),
        ("How many berths has Skarn-on-Sea?", "120"),
        ("What is the phone number of Hanna Berg?", None),
        ("What is the phone number of Anna Berg?", "555 12"),
        ("What is the fee for a goat?", None),
    ],
)
def test_names_and_hyphens_are_not_taken_for_others(tmp_path: Path, question: str, said: str | None) -> None:
    files = {
        "hotel.md": "# Hotel\n\nThe time of check in is 15:00 and breakfast is at 8.\n",
        "hall.md": "# Hall\n\nA self-service desk is in the hall. The time of the train is 9:00.\n",
        "port.md": "# Port\n\nThe port of Skarn-on-Sea has 120 berths.\n",
        "people.md": "# People\n\nThe phone number of Anna Berg is 555 12. The fee for a boat is 30 euros.\n",
    }
    answer = asked(tmp_path, files, question).answer
    assert (answer is None) if said is None else (said in (answer or "")), answer


def test_copies_with_another_name_or_a_denial_are_not_folded(tmp_path: Path) -> None:
    rest = " ".join(f"The members spoke of point {word} for a long time and came to no end." for word in "abcdefghij")
    one = "The new treasurer is {}, who was elected by all. The board decided {} repair the pier. "
    files = {
        f"minutes_{at}.md": f"# Minutes\n\n{one.format(name, decided)}{rest}\n"
        for at, (name, decided) in enumerate((("Tom Falk", "to"), ("Olga Stern", "to"), ("Tom Falk", "not to")))
    }
    result = asked(tmp_path, files, "Who is the new treasurer?")
    assert len(result.hits) == 3
    copies = {f"minutes_{at}.md": f"# Minutes\n\n{one.format('Tom Falk', 'to')}{rest}\n" for at in range(3)}
    (tmp_path / "copies").mkdir()
    result = asked(tmp_path / "copies", copies, "Who is the new treasurer?")
    assert len(result.hits) == 1
    assert len(result.hits[0].alike) == 2

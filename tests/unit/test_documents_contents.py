"""Passages that merely lead to others are told from those that say something."""

from __future__ import annotations

import pytest

from orienteer.ingest import BuildConfig, Document, DocumentNodeMaker, is_contents, read_markdown, table_segments
from orienteer.text import count_tokens

LEADING = {
    "leaders": "\n".join(f"{at}.{at} On the mooring of boats .......... {at * 7}" for at in range(1, 12)),
    "leaders in one line": " ".join(f"Mooring of boats . . . . . . . . {at * 7}" for at in range(1, 12)),
    "index": "anchor, 12, 45-47\nbollard, 9\nbuoy, 101, 120\ncleat, 7\ndavit, 88\nfender, 14, 15, 90\nhawser, 3",
    "questions": "\n".join(f"{at}.2 Can I use the crane for boats of my own? . . . . . . . {at}" for at in range(1, 9)),
    "some leaders": "The port 3\nThe fees 5\nOf boats . . . . . 7\nOf nets . . . . 9\nLights 9\nOf fog . . . . . 12",
    "numbered": "\n".join(f"{at}.2 Fees of the season" for at in range(1, 9)),
    "no leaders": "\n".join(f"{at // 3 + 1}.{at % 3 + 1} Fees of season {at}   {at * 4 + 3}" for at in range(9)),
    "chapters": "\n".join(f"Chapter {at} The winter of the port {at * 9}" for at in range(1, 8)),
    "called so": "Contents\nPreface 3\nThe port 5\nThe fees 9\nThe crane 31\nThe lights 44\nStorms 61",
    "called so, of sections": "Contents\n1. Preface\n2. The port\n3. The fees\n4. The crane\n5. Lights\n6. Storms",
}
SAYING = {
    "prose": "Fees are due in May. They are paid at the office.\n" * 8,
    "short": "Home\nAbout",
    "steps": "\n".join(f"{at}. Turn the winch until the rope is tight, then hold it." for at in range(1, 9)),
    "numbers": "\n".join(f"Berth {at} costs {at}0 euros" for at in range(1, 9)),
    "code": "\n".join(f"value_{at} = compute({at})" for at in range(12)),
    "ages": "Ada 34\nBen 25\nEva 41\nJon 19\nNoor 52\nOlaf 33\nRuna 47",
    "pairs": "Ada, 3, 12\nBen, 2, 15\nEva, 4, 11\nJon, 1, 19\nNoor, 5, 22\nOlaf, 3, 33\nRuna, 4, 47",
    "prices": "Crane ...... 120\nBerth ...... 14\nWater ...... 3\nPower ...... 35\nIce ...... 8\nTowing ...... 240",
    "numbers alone": "1 10\n2 20\n3 NaN\n4 40\n5 50\n6 60\n7 61",
    "sums": "January 3\nFebruary 5\nMarch 9\nApril 12\nMay 20\nJune 31\nJuly 44",
    "list": "\n".join(f"{at}. {word}" for at, word in enumerate(["rope", "oars", "nets", "buoys", "hooks", "bags"], 1)),
    "berths": "\n".join(f"Berth {at} {(at * 37) % 11}40" for at in range(1, 12)),
    "years": "\n".join(f"{at}.{at} of the catch {1990 - at * 3}" for at in range(1, 9)),
    "items": "\n".join(["rope of hemp", "rope of nylon", "shackles", "fenders", "a hook", "two oars", "a bailer"]),
}


@pytest.mark.parametrize("name", LEADING)
def test_contents_are_told(name: str) -> None:
    assert is_contents(LEADING[name], ())


@pytest.mark.parametrize("name", SAYING)
def test_what_says_something_is_none(name: str) -> None:
    assert not is_contents(SAYING[name], ())


def test_navigation_is_told_by_its_links() -> None:
    items = "\n".join(["Home", "About us", "Boats", "Fees", "Weather", "Contact"])
    assert is_contents(items, [f"/{at}" for at in range(6)])
    assert not is_contents(items, ["/fees"])


def test_chunk_that_is_contents_says_so_among_its_properties() -> None:
    items = "\n".join(f"- [Chapter {at}](chapter-{at}.md)" for at in range(9))
    page = read_markdown(f"# Book\n\n{items}\n")
    _, chunk = DocumentNodeMaker(BuildConfig()).nodes(Document("book.md", "Book", page.blocks, "book.md"))
    assert chunk.properties["contents"] is True


def test_rows_that_are_long_make_segments_of_fewer() -> None:
    rows = [(str(at), "long words of a remark " * 12) for at in range(25)]
    cut = list(table_segments(("Number", "Remark"), rows, BuildConfig()))
    assert [row for segment in cut for row in segment.rows] == [(number, remark.strip()) for number, remark in rows]
    assert all(sum(count_tokens(" | ".join(row)) for row in segment.rows) <= BuildConfig().tokens for segment in cut)
    firsts = [segment.first for segment in cut]
    assert firsts == [1 + sum(len(segment.rows) for segment in cut[:at]) for at in range(len(cut))]
    assert len(list(table_segments(("Number", "Remark"), rows, BuildConfig(faithful=True)))) == 3

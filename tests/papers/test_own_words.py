"""No words of ours are the papers': seven in a row that stand in one of their texts are a copy.

Figures are facts, so a row of a table is none: four of the seven have letters. The papers are no part of the project:
where they are not beside it, this is skipped. The one exception is `published.toml`, which has the rows of the papers'
tables: names of methods and figures, with their source.
"""

import os
import re
from pathlib import Path

import pytest

LONGEST_SHARED, LEAST_LETTERS = 6, 4
SOURCES = {".py", ".md", ".toml", ".html", ".js", ".css", ".txt", ".json", ".svg", ".lark"}
ROOT = Path(__file__).parents[2]
PAPERS = Path(os.environ.get("ORIENTEER_PAPERS") or ROOT.parent / "shared" / "papers")


def words(text):
    """Return the words of a text in lower case, those that a line's end cuts as one."""
    return re.findall(r"[a-z0-9]+", re.sub(r"-[ \t]*\n[ \t]*", "", text.lower()))


def runs(text, length=LONGEST_SHARED + 1):
    found = words(text)
    all_runs = {tuple(found[at : at + length]) for at in range(len(found) - length + 1)}
    return {run for run in all_runs if sum(not word.isdigit() for word in run) >= LEAST_LETTERS}


def test_a_copy_of_seven_words_is_found_whatever_its_case_marks_and_lines():
    paper = runs("The retriever finds top-k nodes, by seman-\ntic similarity (batch).")
    assert paper & runs('"Finds top k NODES by\n    semantic similarity"')
    assert not paper & runs("finds top k nodes by their semantic similarity")


@pytest.mark.slow
def test_no_seven_words_of_a_paper_stand_in_the_sources():
    texts = sorted(PAPERS.glob("*.txt"))
    if not texts:
        pytest.skip(f"there are no papers in {PAPERS}")
    papers = set().union(*(runs(text.read_text(encoding="utf-8")) for text in texts))
    assert len(papers) > 10_000
    found = sorted((ROOT / "src").rglob("*"))
    sources = [file for file in found if file.suffix in SOURCES and file.name != "published.toml"]
    copied = {
        str(file.relative_to(ROOT)): [" ".join(run) for run in shared]
        for file in sources
        if (shared := runs(file.read_text(encoding="utf-8")) & papers)
    }
    assert len(sources) > 500
    assert copied == {}

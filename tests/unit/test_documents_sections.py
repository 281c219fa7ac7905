"""Short sections that share a chunk: a quotation never spans a heading, and a heading goes for what is below it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from orienteer import Graph, Retriever, build_graph
from orienteer.records import Result

pytestmark = pytest.mark.slow
CARDS = [(f"Task card {n}", f"Task {n} concerns bed {3 * n}.", f"Water with {n + 2} litres.") for n in range(1, 41)]
LEASE = [
    ("Parties", "The landlord is Edmund Vale; the tenant is the cooperative."),
    ("Rent", "It is 340 euros a month, due on the third working day."),
    ("Notice", "Either party may end the lease with six months' notice."),
    ("Leader", "Report to the shift leader at the gate."),
]


def markdown(path: Path, sections: list[tuple[str, ...]]) -> None:
    path.with_suffix(".md").write_text(
        "# Orchard\n\n" + "\n".join(f"## {heading}\n\n{' '.join(said)}\n" for heading, *said in sections)
    )


def html(path: Path, sections: list[tuple[str, ...]]) -> None:
    inner = "".join(f"<h2>{heading}</h2><p>{' '.join(said)}</p>" for heading, *said in sections)
    path.with_suffix(".html").write_text(f"<html><body><h1>Orchard</h1>{inner}</body></html>")


def word(path: Path, sections: list[tuple[str, ...]]) -> None:
    document = pytest.importorskip("docx").Document()
    document.add_heading("Orchard", 1)
    for heading, *said in sections:
        document.add_heading(heading, 2)
        document.add_paragraph(" ".join(said))
    document.save(str(path.with_suffix(".docx")))


def pdf(path: Path, sections: list[tuple[str, ...]]) -> None:
    pytest.importorskip("reportlab")
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate

    styles = getSampleStyleSheet()
    story = [Paragraph("Orchard", styles["Title"])]
    for heading, *said in sections:
        story += [Paragraph(heading, styles["Heading2"]), Paragraph(" ".join(said), styles["BodyText"])]
    SimpleDocTemplate(str(path.with_suffix(".pdf"))).build(story)


@pytest.fixture(scope="module", params=[markdown, html, word, pdf])
def ask(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Result]:
    """Return answers over a folder of one format."""
    folder = tmp_path_factory.mktemp("sections")
    write: Callable[[Path, list[tuple[str, ...]]], None] = request.param
    write(folder / "cards", list(CARDS))
    write(folder / "lease", list(LEASE))
    target = tmp_path_factory.mktemp("graph") / "g"
    build_graph([folder], target)
    return Retriever(Graph.open(target)).ask


def test_the_next_heading_is_never_quoted(ask: Callable[[str], Result]) -> None:
    right = 0
    for number in range(1, 41, 3):
        answer = ask(f"How much water does bed {3 * number} need?").answer
        if answer is not None:
            assert "Task card" not in answer, "a heading is no part of a quotation"
            assert f"bed {3 * number}." in answer
            assert f"{number + 2} litres" in answer
            right += 1
    assert right >= 13, "of 14"


def test_a_heading_goes_for_what_is_below_it(ask: Callable[[str], Result]) -> None:
    answer = ask("What is the rent of the orchard?").answer or ""
    assert "340 euros" in answer
    assert "landlord" not in answer
    assert "Rent" not in answer


def test_who_is_asked_is_a_name(ask: Callable[[str], Result]) -> None:
    assert ask("Who is the shift leader?").answer is None
    assert "Edmund Vale" in (ask("Who is the landlord?").answer or "")

"""What the newest of several documents says: by the versions and dates in their names, or their own dates."""

from __future__ import annotations

import pytest

from orienteer import BuildOptions, Graph, Result, Retriever, build_graph

FILES = {
    **{f"tariff_v{at}.md": f"# Tariff\n\nThe mooring fee is {at}0 crowns a night.\n" for at in (2, 9, 10)},
    **{
        f"minutes-{day}.md": f"# Minutes of the board\n\nThe board met with {count} members.\n"
        for day, count in (("2022-05-01", 7), ("2024-01-09", 9), ("2023-06-02", 8))
    },
    "contract_draft.txt": "Contract of Gull\n\nThe rent is 700 crowns a month.\n",
    "contract_final.txt": "Contract of Gull\n\nThe rent is 800 crowns a month.\n",
    "rules 7.md": "---\ndate: 2021-05-01\n---\n# Rules of guests\n\nGuests may stay 3 nights.\n",
    "rules 8.md": "---\ndate: 2020-05-01\n---\n# Rules of guests\n\nGuests may stay 5 nights.\n",
    "plan-2024.md": "# Plan\n\nThe quay gets 6 lamps.\n",
    "plan-2024-05.md": "# Plan\n\nThe quay gets 4 lamps.\n",
    "crane east/current.md": "# Current\n\nThe crane takes 30 amperes.\n",
    "crane west/current.md": "# Current\n\nThe crane takes 30 amperes, too.\n",
}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    folder = tmp_path_factory.mktemp("versions")
    for name, text in FILES.items():
        (folder / "files" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "files" / name).write_text(text, encoding="utf-8")
    build_graph([folder / "files"], folder / "graph", options=BuildOptions())
    return Graph.open(folder / "graph")


def asked(graph: Graph, question: str) -> Result:
    return Retriever(graph, "documents").ask(question)


@pytest.mark.parametrize(
    ("question", "answer", "note"),
    [
        ("What does the newest version of the tariff say about fees?", "100 crowns", "by version; the others"),
        ("What is the mooring fee in the latest tariff?", "100 crowns", "the others: tariff_v9.md, tariff_v2.md"),
        ("How many members met by the latest minutes?", "9 members", "minutes-2024-01-09.md is the newest by date"),
        ("How many nights may guests stay under the current rules?", "3 nights", "rules 7.md is the newest by date"),
        ("Wie hoch ist die mooring fee der neuesten Fassung des tariff?", "100 crowns", "by version"),
        ("Which version of the tariff is the newest?", "tariff_v10.md", "by version"),
        ("What is the first version of the tariff?", "tariff_v2.md", "tariff_v2.md is the oldest by version"),
        ("newest minutes", "minutes-2024-01-09.md", "by date"),
    ],
)  # fmt: skip
def test_the_newest_version_answers_alone(graph, question, answer, note):
    result = asked(graph, question)
    assert answer in (result.answer or "")
    assert [told for told in result.notes if note in told]
    assert result.question == question
    assert len({hit.source.file for hit in result.hits}) == 1


@pytest.mark.parametrize(
    "question",
    ["What is the rent in the newest contract?", "How many lamps does the quay get by the latest version of the plan?"],
)
def test_what_is_not_known_to_be_the_newest_is_refused(graph, question):
    result = asked(graph, question)
    assert (result.answer, result.refusal.kind) == (None, "not_understood")
    assert "not known by versions or dates: " in result.refusal.text
    assert len(result.hits) > 1


@pytest.mark.parametrize("question", ["How much current does the crane take?", "What is the current of the crane?"])
def test_other_questions_are_of_all_documents(graph, question):
    assert not [note for note in asked(graph, question).notes if "newest" in note]

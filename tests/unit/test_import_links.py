"""A folder is whoever made it's: an import does not follow its links to anything outside of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orienteer.errors import BadInput
from orienteer.graph import Graph
from orienteer.ingest import ImportOptions, import_graph
from orienteer.lab.evaluation import read_questions

pytestmark = pytest.mark.corpus("attacks by files")

ROWS = "id,type,name\n{0},t,{0}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a table, beside a folder that is not its business."""
    private = tmp_path / "private"
    private.mkdir()
    (private / "secret.csv").write_text(ROWS.format("secret"))
    made = tmp_path / "given"
    made.mkdir()
    (made / "nodes.csv").write_text(ROWS.format("a"))
    return made


@pytest.mark.parametrize("target", ["../private/secret.csv", "{absolute}", "inside/../../private/secret.csv", "chain"])
def test_a_link_out_of_the_folder_is_left_out_and_told(target: str, folder: Path, tmp_path: Path) -> None:
    (folder / "inside").mkdir()
    (folder / "inside" / "chain").symlink_to(tmp_path / "private" / "secret.csv")
    named = {"{absolute}": str(tmp_path / "private" / "secret.csv"), "chain": "inside/chain"}
    (folder / "more_nodes.csv").symlink_to(named.get(target, target))
    report = import_graph([folder], tmp_path / "out")
    assert list(Graph.open(tmp_path / "out").arrays.ids) == ["a"]
    assert f"links out of the folder: 1 left out ({folder / 'more_nodes.csv'})" in report.notes


@pytest.mark.slow
def test_links_within_the_folder_and_links_that_are_given_are_followed(folder: Path, tmp_path: Path) -> None:
    (folder / "inside").mkdir()
    (folder / "inside" / "b.csv").write_text(ROWS.format("b"))
    (folder / "b_nodes.csv").symlink_to("inside/b.csv")
    given = tmp_path / "link"
    given.symlink_to(folder)
    assert import_graph([given], tmp_path / "one").nodes == 2
    linked = tmp_path / "linked.csv"
    linked.symlink_to("private/secret.csv")
    assert import_graph([linked], tmp_path / "two").nodes == 1
    (folder / "c_nodes.csv").symlink_to("../private/secret.csv")
    by_hand = ImportOptions(nodes=(folder / "c_nodes.csv",))
    assert import_graph([folder], tmp_path / "three", options=by_hand).nodes == 1


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_layout_behind_a_link_is_refused(is_folder: bool, tmp_path: Path) -> None:
    private, given = tmp_path / "private", tmp_path / "given"
    (private / "traindev_tables_tok").mkdir(parents=True)
    (private / "traindev_request_tok").mkdir()
    (private / "graph.json").write_text(json.dumps({"a_nodes": {"1": {"features": {"name": "x"}, "neighbors": {}}}}))
    table = {"uid": "t", "title": "T", "header": [["a", []]], "data": [[["secret", []]]]}
    (private / "traindev_tables_tok" / "t.json").write_text(json.dumps(table))
    (private / "traindev_request_tok" / "t.json").write_text(json.dumps({"/wiki/A": "secret"}))
    given.mkdir()
    if is_folder:
        (given / "data").symlink_to(private)
    else:
        (given / "graph.json").symlink_to(private / "graph.json")
    with pytest.raises(BadInput, match="is a link out of the folder, and is not followed"):
        import_graph([given], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_questions_behind_a_link_are_not_found(tmp_path: Path) -> None:
    private, given = tmp_path / "private", tmp_path / "given"
    for one in (private, given):
        one.mkdir()
    (private / "q.jsonl").write_text('{"id":"1","question":"A secret?"}\n')
    (given / "q.jsonl").symlink_to(private / "q.jsonl")
    with pytest.raises(BadInput, match="holds no questions"):
        read_questions(given)
    assert len(read_questions(private / "q.jsonl").examples) == 1
    (given / "stark_qa").symlink_to(private)
    (private / "stark_qa.csv").write_text('id,query,answer_ids\n1,A secret?,"[1]"\n')
    with pytest.raises(BadInput, match="holds no questions"):
        read_questions(given)

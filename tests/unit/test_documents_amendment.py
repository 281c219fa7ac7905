"""An update that touches little makes the graph that a build makes, but for the edges of names between old chunks."""

import multiprocessing
import os
import random
import signal
import threading
import time
from collections import defaultdict

import numpy as np
import pytest

from fakes.inside import inside
from lanes import seeds
from orienteer.graph import (
    NAMES_PIECE,
    Graph,
    give_vectors,
    open_vectors,
    piece_folder,
    publish_piece,
    read_about_vectors,
    read_incidence_names,
    read_pointer,
    write_incidence,
)
from orienteer.ingest import (
    ALL_FILES,
    CHANGED_KEY,
    BuildConfig,
    BuildOptions,
    DocumentReader,
    PreviousGraph,
    build_graph,
    file_changes,
    is_stale,
    list_documents,
    listed_changes,
)
from orienteer.retrieval import Spaces, open_incidence

pytestmark = pytest.mark.slow

UNDIRECTED = "shares_names"


class Corpus(random.Random):
    """A folder of made-up documents that name one another, link to one another, and have headings and tables."""

    def __init__(self, seed, folder, files=24):
        super().__init__(seed)
        self.folder, self.files = folder, files
        self.words = ["".join(self.choices("aeioubcdfglmnprstv", k=self.randint(3, 9))) for _ in range(400)]
        self.names = [f"{a.title()} {b.title()}" for a, b in zip(self.words[:60], self.words[60:120], strict=True)]
        for number in range(files):
            path = folder / f"d{number % 3}" / f"f{number:03}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.text(number), encoding="utf-8")
        (folder / "picture.png").write_bytes(b"no document")
        rows = [
            f"r{n},{self.names[n]} row,{self.choice(self.words)} with {self.choice(self.names)} again" for n in range(8)
        ]
        (folder / "t.csv").write_text("\n".join(["id,title,text", *rows, ""]), encoding="utf-8")

    def text(self, number):
        parts = [f"# {self.names[number % 60]} {number}\n"] if self.random() < 0.8 else []
        for section in range(self.randint(1, 4)):
            parts.append(f"\n## {self.choice(self.words).title()} {section % 2}\n")
            for _ in range(self.randint(2, 14)):
                picked = self.choices(self.words, k=14)
                picked[self.randrange(14)] = self.choice(self.names)
                if self.random() < 0.1:
                    picked[5] = f"{self.choice(self.names)} {self.randrange(60)}"
                parts.append(" ".join(picked).capitalize() + ".")
            parts.append(
                f"See [this](f{self.number():03}.md), [[f{self.number():03}]], [[{self.choice(self.names)} 3]]."
            )
            parts.append(f"Or [x](../d1/f{self.number():03}#{self.choice(self.words)}-0) and [y](../d2/).\n")
            if self.random() < 0.2:
                parts.append("\n| Name | Year |\n|---|---|")
                parts += [f"| {self.choice(self.names)} | {1990 + year} |" for year in range(7)]
        return "\n".join(parts)

    def number(self):
        return self.randrange(self.files + 3)

    def change(self, step):
        path = self.choice(sorted(self.folder.rglob("*.md")))
        what = self.choice(["edit", "append", "delete", "add", "rename", "title", "row", "index"])
        text = path.read_text(encoding="utf-8")
        if what == "edit":
            path.write_text(text.replace("e", "a", 9) + " Zzz Yyy.", encoding="utf-8")
        elif what == "append":
            path.write_text(f"{text}\nNew Horizon Lab met {self.text(3)[2:20]}\n", encoding="utf-8")
        elif what == "delete":
            path.unlink()
        elif what == "add":
            (self.folder / f"f{self.files + step:03}.md").write_text(self.text(step), encoding="utf-8")
        elif what == "rename":
            path.rename(path.with_name(f"z{path.name}"))
        elif what == "title":
            path.write_text(f"# Other Heading\n{text}", encoding="utf-8")
        elif what == "index":
            (self.folder / "d2" / "index.md").write_text(self.text(step), encoding="utf-8")
        else:
            table = self.folder / "t.csv"
            lines = table.read_text(encoding="utf-8").split("\n")
            table.write_text("\n".join([*lines[:3], f"{lines[3]} by Ada Holm", *lines[4:]]), encoding="utf-8")


@pytest.fixture
def always(monkeypatch):
    monkeypatch.setattr(inside(file_changes), "MOST_CHANGED", 99.0)
    monkeypatch.setattr(inside(file_changes), "LEAST_PARTS", 1)


def update(folder, target, **options):
    report = build_graph([folder], target, options=BuildOptions(update=True, **options))
    return report, "comparing" in report.stages and "edges" not in report.stages


def nodes_of(graph):
    return {node_id: graph.node(node_id) for node_id in graph.node_ids()}


def edges_of(graph):
    """Return the edges by type and ends: their weights and properties."""
    edges = defaultdict(dict)
    for edge in graph.iter_edges():
        ends = sorted((edge.source, edge.target)) if edge.type == UNDIRECTED else (edge.source, edge.target)
        edges[edge.type][tuple(ends)] = (edge.weight, edge.properties)
    return edges


def names_of(graph):
    """Return who holds and who is titled by each name, by keys and ids, and the counts that tell names."""
    names = read_incidence_names(piece_folder(graph.path, NAMES_PIECE), graph.generation)
    keys = {int(number): key for key, number in zip(names.keys, names.numbers, strict=True)}
    ids = [node_id for node_id in graph.node_ids() if graph.node(node_id).type != "document"]
    held = {(ids[at], keys[name]) for at in range(len(ids)) for name in names.held.of(at).tolist()}
    holders = {(ids[at], keys[name]) for name in keys for at in names.holders.of(name).tolist()}
    titled = {(ids[at], keys[name]) for name in keys for at in names.titled.of(name).tolist()}
    case = names.case.counts()
    return held, holders, titled, case.lower, case.upper


@pytest.mark.parametrize("seed", seeds(8, usual=3))
def test_it_makes_what_a_build_makes(seed, tmp_path, always):
    corpus = Corpus(seed, tmp_path / "docs")
    build_graph([corpus.folder], tmp_path / "graph")
    for step in range(4):
        before = nodes_of(Graph.open(tmp_path / "graph"))
        corpus.change(step)
        report, is_amended = update(corpus.folder, tmp_path / "graph")
        assert is_amended
        full = build_graph([corpus.folder], tmp_path / "full", options=BuildOptions(force=True))
        mine, other = Graph.open(tmp_path / "graph"), Graph.open(tmp_path / "full")
        nodes = nodes_of(mine)
        assert nodes == nodes_of(other)
        assert names_of(mine) == names_of(other)
        counts = ("documents", "chunks", "tables", "nodes", "unreadable", "skipped")
        assert [getattr(report, name) for name in counts] == [getattr(full, name) for name in counts]
        new = {node_id for node_id, node in nodes.items() if before.get(node_id) != node}
        edges, others = edges_of(mine), edges_of(other)
        for kind in ("part_of", "next", "links_to"):
            assert edges[kind] == others[kind]
        assert edges["mentions"].keys() == others["mentions"].keys()
        ours, theirs = ({ends for ends in kinds[UNDIRECTED] if new & {*ends}} for kinds in (edges, others))
        assert ours == theirs
        for kind in ("mentions", UNDIRECTED):
            assert all(edges[kind][ends] == others[kind][ends] for ends in edges[kind] if new & {*ends} and step == 0)
        for query in [*corpus.names[:9], *corpus.words[:9], "Ada Holm", "New Horizon"]:
            assert mine.search(query, 10) == other.search(query, 10)


def test_a_new_text_brings_names_within_the_titles_of_parts_that_stay(tmp_path, always):
    corpus = Corpus(16, tmp_path / "docs")
    long = "some words of no name at all. " * 200
    sections = ["Letters to Noor Vik", "Letters to Noor Vik", "A visit to Salt Bay"]
    parts = "\n\n".join(f"## {title}\n\n{long}" for title in sections)
    (corpus.folder / "m.md").write_text(f"# Memoirs of Ada Holm\n\n{long}\n\n{parts}", encoding="utf-8")
    (corpus.folder / "small.txt").write_text("an apple and another apple: apple, apple.", encoding="utf-8")
    build_graph([corpus.folder], tmp_path / "graph")
    (corpus.folder / "n.txt").write_text("we met Ada Holm, Noor Vik and Low Tide in Salt Bay.", encoding="utf-8")
    (corpus.folder / "u.txt").write_text("then came Apple Low Tide.", encoding="utf-8")
    assert update(corpus.folder, tmp_path / "graph")[1]
    build_graph([corpus.folder], tmp_path / "full")
    mine, other = Graph.open(tmp_path / "graph"), Graph.open(tmp_path / "full")
    assert names_of(mine) == names_of(other)
    assert {key for part, key in names_of(mine)[0] if part == "n.txt#0"} >= {"ada holm", "noor vik", "salt bay"}
    shared = {ends for ends in edges_of(mine)[UNDIRECTED] if "n.txt#0" in ends}
    assert shared == {ends for ends in edges_of(other)[UNDIRECTED] if "n.txt#0" in ends}
    assert sum(any(part.startswith("m.md#") for part in ends) for ends in shared) == 3


def test_more_changes_than_a_share_make_all_edges_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(inside(file_changes), "MOST_CHANGED", 0.1)
    monkeypatch.setattr(inside(file_changes), "LEAST_PARTS", 1)
    corpus = Corpus(1, tmp_path / "docs")
    build_graph([corpus.folder], tmp_path / "graph")
    path = corpus.folder / "d0" / "f000.md"
    ways = []
    for step in range(9):
        path.write_text(f"{path.read_text(encoding='utf-8')}\nOne more line, {step}.\n", encoding="utf-8")
        ways.append(update(corpus.folder, tmp_path / "graph")[1])
    assert ways[0] is True
    assert False in ways
    assert ways[ways.index(False) + 1] is True  # the count begins anew


def test_nothing_deleted_is_left_and_nothing_is_told_of_other_ways(tmp_path, always):
    corpus = Corpus(2, tmp_path / "docs")
    witness = corpus.folder / "witness.md"
    witness.write_text(
        "# Quetzalcoatlus Secretname\n\nThe hushedword of Whispered Thing. Whispered Thing.", encoding="utf-8"
    )
    build_graph([corpus.folder], tmp_path / "graph")
    witness.unlink()
    report, is_amended = update(corpus.folder, tmp_path / "graph")
    assert (is_amended, report.removed, report.unchanged, report.changed, report.added) == (True, 1, 25, 0, 0)
    held = b"".join(file.read_bytes() for file in (tmp_path / "graph").rglob("*") if file.is_file()).lower()
    for word in (b"quetzalcoatlus", b"secretname", b"hushedword", b"whispered", b"witness"):
        assert word not in held


def test_a_file_with_another_time_alone_changes_no_node(tmp_path, always):
    corpus = Corpus(3, tmp_path / "docs")
    build_graph([corpus.folder], tmp_path / "graph")
    before = Graph.open(tmp_path / "graph")
    os.utime(corpus.folder / "t.csv", ns=(1, 1))
    report, is_amended = update(corpus.folder, tmp_path / "graph")
    after = Graph.open(tmp_path / "graph")
    assert (is_amended, report.unchanged, report.changed) == (True, 25, 0)
    assert (nodes_of(after), edges_of(after)) == (nodes_of(before), edges_of(before))
    assert after.arrays.manifest.provenance[CHANGED_KEY] == 0


def test_a_renamed_file_is_not_read_again(tmp_path, always, monkeypatch):
    corpus = Corpus(9, tmp_path / "docs")
    path = corpus.folder / "d0" / "f000.md"
    path.write_text(f"# Titled\n\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    build_graph([corpus.folder], tmp_path / "graph")
    path.rename(corpus.folder / "d1" / "other.md")

    def read(*_):
        raise AssertionError("it was read")

    monkeypatch.setattr(DocumentReader, "documents", read)
    report, is_amended = update(corpus.folder, tmp_path / "graph")
    monkeypatch.undo()
    assert (is_amended, report.added, report.removed) == (True, 1, 1)
    build_graph([corpus.folder], tmp_path / "full")
    assert nodes_of(Graph.open(tmp_path / "graph")) == nodes_of(Graph.open(tmp_path / "full"))


def test_without_names_there_are_none(tmp_path, always):
    corpus = Corpus(4, tmp_path / "docs")
    build_graph([corpus.folder], tmp_path / "graph", options=BuildOptions(config=BuildConfig(names=False)))
    corpus.change(1)
    assert update(corpus.folder, tmp_path / "graph")[1]
    graph = Graph.open(tmp_path / "graph")
    assert not {"mentions", UNDIRECTED} & graph.schema.edge_types.keys()
    assert "names" not in read_pointer(graph.path).pieces


def test_a_graph_whose_names_do_not_tell_case_is_built_anew_once(tmp_path, always):
    corpus = Corpus(5, tmp_path / "docs")
    build_graph([corpus.folder], tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph")
    names = read_incidence_names(piece_folder(graph.path, NAMES_PIECE), graph.generation)
    publish_piece(
        graph.path,
        NAMES_PIECE,
        lambda folder: write_incidence(names._replace(case=None), graph.generation, folder),
    )
    corpus.change(1)
    assert not update(corpus.folder, tmp_path / "graph")[1]
    corpus.change(2)
    assert update(corpus.folder, tmp_path / "graph")[1]


def vector_of(graph, node_id):
    row = np.array([graph.arrays.row(node_id)], np.int32)
    return open_vectors(graph.path, graph.generation).index.means(row)


def test_vectors_stay_with_their_texts(tmp_path, always):
    corpus = Corpus(6, tmp_path / "docs")
    target = tmp_path / "graph"
    build_graph([corpus.folder], target)
    graph = Graph.open(target)
    random = np.random.default_rng(0)
    ids = [node_id for node_id in graph.node_ids() if graph.node(node_id).type != "document"]
    give_vectors(graph, [*ids, ids[-1]], random.normal(size=(len(ids) + 1, 8)), embedder=None)
    before = {node_id: vector_of(graph, node_id) for node_id in ids}
    (corpus.folder / "d0" / "f000.md").write_text("# New\n\nQuite other words.", encoding="utf-8")
    (corpus.folder / "a.md").write_text("# Newer\n\nMore words.", encoding="utf-8")
    report, is_amended = update(corpus.folder, target)
    assert is_amended
    assert "2 new nodes without a vector: orienteer embed adds the missing ones" in report.notes
    after = Graph.open(target)
    for node_id, vector in before.items():
        if node_id.startswith("d0/f000"):
            continue
        assert np.array_equal(vector_of(after, node_id), vector)
    about = read_about_vectors(target)
    assert about.generation == after.generation
    assert about.lacking == 2
    assert about.vectors == len(open_vectors(target, after.generation).index) == about.nodes + 1


def test_what_is_ignored_or_left_out_goes(tmp_path, always):
    corpus = Corpus(10, tmp_path / "docs")
    target = tmp_path / "graph"
    build_graph([corpus.folder], target)
    assert not is_stale(Graph.open(target).arrays.manifest)
    (corpus.folder / ".gitignore").write_text("d1/\n", encoding="utf-8")
    (corpus.folder / "d1" / "more.md").write_text("Ignored.", encoding="utf-8")
    report, is_amended = update(corpus.folder, target)
    assert (is_amended, report.removed) == (True, 8)
    assert not is_stale(Graph.open(target).arrays.manifest)
    build_graph([corpus.folder], tmp_path / "full")
    assert nodes_of(Graph.open(target)) == nodes_of(Graph.open(tmp_path / "full"))


def test_a_choice_of_files_is_kept_to(tmp_path, always):
    corpus = Corpus(11, tmp_path / "docs")
    target = tmp_path / "graph"
    (corpus.folder / ".notes.md").write_text("Hidden words.", encoding="utf-8")
    build_graph([corpus.folder], target, options=BuildOptions(include=("*.md",), exclude=("d2/",)))
    assert not is_stale(Graph.open(target).arrays.manifest)
    (corpus.folder / "d2" / "new.md").write_text("Left out.", encoding="utf-8")
    assert not is_stale(Graph.open(target).arrays.manifest)
    (corpus.folder / "d0" / "new.md").write_text("# New\n\nRead.", encoding="utf-8")
    assert is_stale(Graph.open(target).arrays.manifest)
    report, is_amended = update(corpus.folder, target, include=("*.md",), exclude=("d2/",))
    assert (is_amended, report.added, report.removed) == (True, 1, 0)
    nodes = nodes_of(Graph.open(target))
    assert {"d0/new.md", "d0/new.md#0"} <= nodes.keys()
    assert not any(node_id.startswith("d2/") for node_id in nodes)


@pytest.mark.parametrize("what", ["edit", "delete", "time", "add", "link"])
def test_one_walk_tells_that_a_folder_has_changed(what, tmp_path):
    corpus = Corpus(12, tmp_path / "docs")
    build_graph([corpus.folder], tmp_path / "graph")
    manifest = Graph.open(tmp_path / "graph").arrays.manifest
    (corpus.folder / "another.png").write_bytes(b"no document")
    (corpus.folder / ".hidden.md").write_text("hidden", encoding="utf-8")
    assert not is_stale(manifest)
    path = corpus.folder / "t.csv"
    if what == "edit":
        path.write_text(f"{path.read_text(encoding='utf-8')}r9,x,y\n", encoding="utf-8")
    elif what == "delete":
        path.unlink()
    elif what == "time":
        os.utime(path, ns=(1, 1))
    elif what == "add":
        (corpus.folder / "d0" / "new.md").write_text("new", encoding="utf-8")
    else:
        (corpus.folder / "link.md").symlink_to(corpus.folder / "d0" / "f000.md")
        assert not is_stale(manifest)  # another name of what was read
        path.unlink()
    assert is_stale(manifest)


def test_names_of_the_mended_graph_are_not_found_again(tmp_path, always):
    corpus = Corpus(13, tmp_path / "docs")
    build_graph([corpus.folder], tmp_path / "graph")
    corpus.change(0)
    assert update(corpus.folder, tmp_path / "graph")[1]
    graph = Graph.open(tmp_path / "graph")
    before = read_pointer(graph.path)
    names = open_incidence(graph, Spaces(graph))
    assert (len(names.passages), names.note) == (len(names.held.begins) - 1, "")
    assert read_pointer(graph.path) == before


def test_readers_see_the_old_graph_or_the_new_one(tmp_path, always):
    corpus = Corpus(7, tmp_path / "docs")
    build_graph([corpus.folder], tmp_path / "graph")
    wrong, ends = [], threading.Event()

    def read():
        while not ends.is_set():
            graph = Graph.open(tmp_path / "graph")
            if len(list(graph.iter_edges())) != graph.arrays.manifest.edges or not graph.search("the", 3) is not None:
                wrong.append(graph.generation)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        for step in range(4):
            corpus.change(step)
            assert update(corpus.folder, tmp_path / "graph")[1]
    finally:
        ends.set()
        for reader in readers:
            reader.join()
    assert wrong == []


def _slowly(folder, target, begun):
    """Update a graph, but stop where the next generation is to be published."""
    from orienteer.graph import check_target

    def stop(*_):
        begun.set()
        time.sleep(600)

    inside(check_target).replace_pointer = stop
    inside(file_changes).MOST_CHANGED, inside(file_changes).LEAST_PARTS = 99.0, 1
    update(folder, target)


def test_a_killed_update_leaves_the_old_graph(tmp_path, always):
    corpus = Corpus(8, tmp_path / "docs")
    target = tmp_path / "graph"
    build_graph([corpus.folder], target)
    before = nodes_of(Graph.open(target))
    (corpus.folder / "d0" / "f000.md").write_text("# Unfinishedword\n\nUnfinishedword.", encoding="utf-8")
    context = multiprocessing.get_context("spawn")
    begun = context.Event()
    child = context.Process(target=_slowly, args=(corpus.folder, target, begun))
    child.start()
    assert begun.wait(120)
    os.kill(child.pid, signal.SIGKILL)
    child.join()
    assert nodes_of(Graph.open(target)) == before
    (corpus.folder / "d0" / "f000.md").write_text("# Finished\n\nFinished.", encoding="utf-8")
    assert update(corpus.folder, target)[1]
    held = b"".join(file.read_bytes() for file in target.rglob("*") if file.is_file()).lower()
    assert b"unfinishedword" not in held
    assert len(list((target / "generations").iterdir())) == len(list((target / "pieces").iterdir())) == 1


def test_files_are_named_as_a_list_of_all_names_them(tmp_path):
    corpus = Corpus(14, tmp_path / "docs")
    other, alone = Corpus(15, tmp_path / "more", files=3), tmp_path / "alone.md"
    alone.write_text("Alone.", encoding="utf-8")
    for sources in ([corpus.folder], [alone], [corpus.folder, other.folder, alone]):
        build_graph(sources, tmp_path / "graph", options=BuildOptions(force=True))
        previous = PreviousGraph(tmp_path / "graph")
        for path in [corpus.folder / "d0" / "new.md", corpus.folder / "new.png", other.folder / "new.md"]:
            path.write_text("New.", encoding="utf-8")
        alone.write_text("Alone and changed.", encoding="utf-8")
        quick = file_changes(previous, sources, ALL_FILES)
        assert quick == listed_changes(previous, list_documents(sources))
        alone.write_text("Alone.", encoding="utf-8")
        for name in ("d0/new.md", "new.png"):
            (corpus.folder / name).unlink()
        (other.folder / "new.md").unlink()

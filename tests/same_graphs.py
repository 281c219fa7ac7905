"""Whether two graphs hold the same, though one was imported and the other updated."""

from collections import Counter
from dataclasses import asdict, replace

from orienteer.graph import MANIFEST, Graph, generation_of, read_pointer
from orienteer.ingest import FileMapping, ImportOptions, import_graph, mappings_as_toml

EXTRA_FILES = ("edge_extra", "extra_number")


def facts(graph):
    """Return what a graph holds, whatever the order of its types, properties and extras."""
    manifest = asdict(replace(graph.arrays.manifest, generation="", created="", files={}))
    manifest["provenance"].pop("places", None)  # only of folders that are older than the grain of the clock
    for name in ("properties", "triples"):
        manifest[name] = sorted(map(repr, manifest[name]))
    return {
        **manifest,
        "rows": [graph.arrays.node_at(row) for row in range(len(graph))],
        "joined": Counter(map(repr, graph.iter_edges())),
    }


def order(graph):
    manifest = graph.arrays.manifest
    return [list(manifest.node_types), list(manifest.edge_types), manifest.properties]


def files(graph):
    folder = generation_of(graph.path, read_pointer(graph.path))
    names = [file.name for file in folder.iterdir() if not file.name.startswith(EXTRA_FILES)]  # in another order
    return {name: (folder / name).read_bytes() for name in sorted(names) if name != MANIFEST}


def check_same(one, other):
    """Check that two graphs hold the same, byte by byte unless an update by rows has types in another order."""
    ours, theirs = Graph.open(one), Graph.open(other)
    held = [{**facts(graph), "provenance": None} for graph in (ours, theirs)]
    assert held[0] == held[1]
    if order(ours) == order(theirs):
        assert files(ours) == files(theirs)


def mappings(path):
    return [FileMapping.model_validate(each) for each in Graph.open(path).arrays.manifest.provenance["mapping"]]


def by_file(source, graph, target):
    """Import a folder by the plan of a graph, as a file."""
    plan = source.parent / "plan.toml"
    plan.write_text(mappings_as_toml(mappings(graph), [source]), encoding="utf-8")
    import_graph([source], target, options=ImportOptions(force=True, mapping=plan))
    return target

"""Whether two graphs hold the same, though one was imported and the other updated."""

from collections import Counter
from dataclasses import asdict, replace

from orienteer.graph import MANIFEST, generation_of, read_pointer

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

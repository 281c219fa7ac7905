"""Words of the documents of STaRK's nodes, as imported here and as STaRK's own package writes them.

    pip download stark-qa==1.1.0 --no-deps -d wheels
    python benchmarks/stark_documents.py wheels/stark_qa-1.1.0-py3-none-any.whl [--seed K] [--nodes N]

Nodes of the three bases are made, with fields that are missing, empty, -1 or nan, long lists, and nested details. Only
`get_doc_info` of the package runs; its other imports are stubbed. The command ends with 1 if any set of words differs.
"""

from __future__ import annotations

import pickle
import random
import re
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

from orienteer.graph import Graph
from orienteer.ingest import ImportOptions, import_graph
from report import command_line

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
torch_file = import_module("torch_files").torch_file

NAN = float("nan")
STUBBED = (
    "torch", "torch_geometric", "torch_geometric.utils", "torch_geometric.utils.num_nodes", "ogb", "ogb.utils",
    "ogb.utils.url", "ogb.nodeproppred", "huggingface_hub", "langdetect", "gdown", "tdc", "tdc.resource", "bs4", "nltk",
    "nltk.corpus", "langchain", "langchain.text_splitter", "tqdm", "stark_qa.load_qa", "stark_qa.load_model",
    "stark_qa.load_skb",
)  # fmt: skip
SYLLABLES = ("ka", "lo", "mi", "tur", "ven", "zo", "bri", "sha", "pel", "dor", "qui", "it's", "Größe", "x/y", "3.5mm")
Fields = dict[str, Any]  # Any: what a pickle holds
# The type of each node by name, and its fields.
Made = list[tuple[str, Fields]]


class Maker:
    """Makes nodes of the three bases."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def words(self, low: int, high: int) -> str:
        """Return words, their number between two."""
        return " ".join(self._random.choice(SYLLABLES) for _ in range(self._random.randint(low, high)))

    def some(self, **fields: Any) -> Fields:  # Any: of any field
        """Return most of some fields, each with one of its values."""
        return self.each(**{name: of for name, of in fields.items() if self._random.random() < 0.75})

    def each(self, **fields: Any) -> Fields:  # Any: of any field
        """Return fields, each with one of its values."""
        return {name: self._random.choice(of) for name, of in fields.items()}

    def amazon(self, number: int) -> tuple[str, Fields]:
        """Return a product with reviews and questions, now and then a brand."""
        if number % 12 == 0:
            return "brand", {"brand_name": f"{self.words(1, 3)} {number}"}
        pick, words = self._random.choice, self.words
        reviews = [
            {"summary": pick([words(1, 4), NAN]), "reviewText": pick([words(3, 30), NAN]), "vote": str(vote)}
            for vote in self._random.sample(range(999), pick([0, 1, 5, 26, 27, 28, 60]))
        ]
        asked = [{"question": words(3, 9), "answer": pick([words(1, 9), NAN])} for _ in range(pick([0, 1, 27, 28, 40]))]
        features = pick([[], [words(1, 9) for _ in range(5)], [words(1, 9), "ASIN: B0", ""]])
        sizes = pick(["", NAN, {}, {"product_dimensions": "3 x 4 ; 5 pounds"}, {"product_dimensions": "3 x 4"}])
        own = self.some(brand=[words(1, 3)], category=[["lamps"], ["tents", "boxes"]], price=["", "$12", NAN])
        own |= {
            "title": f"{words(1, 5)} {number}",
            "details": sizes,
            "feature": features,
            "review": reviews,
            "qa": asked,
        }
        return "product", own | {"description": pick([[], [""], [words(3, 40)], [words(1, 9), words(2, 9)]])}

    def mag(self, number: int) -> tuple[str, Fields]:
        """Return a paper, now and then an author, an institution or a field."""
        kind, counts, words = (
            ("author", "institution", "field_of_study", *["paper"] * 5)[number % 8],
            [-1, 0, 99],
            self.words,
        )
        if kind != "paper":
            return kind, {"DisplayName": f"{words(1, 3)} {number}"} | self.each(PaperCount=counts, CitationCount=counts)
        venues = {name: ["-1", -1, words(1, 5)] for name in ("OriginalVenue", "ConferenceInstancesDisplayName")}
        venues |= {name: [-1, words(1, 5)] for name in ("JournalDisplayName", "ConferenceSeriesDisplayName")}
        own = self.each(abstract=[words(5, 60), f"{words(2, 4)}\r\n{words(3, 5)}\n", "", "-1"], Year=[2001, -1])
        return kind, {"title": f"{words(2, 9)} {number}", **own, **self.each(Date=["2001-01-02", -1, NAN], **venues)}

    def prime(self, number: int) -> tuple[str, Fields]:
        """Return a gene, a drug or a disease with its details."""
        kind, words = self._random.choice(["gene/protein", "drug", "disease"]), self.words
        details = self.some(
            alias=[[words(1, 1), words(1, 1)], words(1, 1)], name=[words(2, 6)], summary=[words(5, 60), ""], _id=["1"],
            generif=[[{"pubmed": 1, "text": words(4, 12)}, {"text": words(1, 3)}]], mim_id=["77"],
            interpro=[[{"desc": words(2, 4), "id": "I1"}], {"desc": words(1, 4), "id": "I2"}],
            genomic_pos=[{"chr": "19", "start": 1}, [{"chr": "X", "start": 9}, {"chr": "Y", "start": 2}]],
        ) if kind == "gene/protein" else self.some(
            description=[words(2, 50), NAN], half_life=[NAN, words(2, 9)], mondo_id=[7], synonyms=[[words(1, 3)]],
            goBiologicalProcess=[{"dbId": 7, "definition": words(6, 12), "name": "nan", "nothing": ""}],
        )  # fmt: skip
        own = {"id": str(number), "type": kind, "name": f"{words(1, 3)} {number}", "source": "NCBI"}
        return kind, own | ({"details": details} if number % 7 else {})


def theirs(base: str, nodes: dict[int, Fields], types: list[int], names: dict[int, str]) -> dict[int, str]:
    """Return the documents that the package writes."""
    name = {"amazon": "AmazonSKB", "mag": "MagSKB", "prime": "PrimeSKB"}[base]
    loaded = object.__new__(getattr(import_module(f"stark_qa.skb.{base}"), name))
    clean_dict = import_module("stark_qa.tools.process_text").clean_dict
    loaded.node_info = clean_dict(nodes) if base == "prime" else nodes
    loaded.node_types, loaded.node_type_dict, loaded.max_entries = types, names, 25
    return {number: loaded.get_doc_info(number) for number in nodes}


def ours(nodes: dict[int, Fields], types: list[int], names: dict[int, str] | None) -> Graph:
    """Return the graph that is imported from the nodes in STaRK's files."""
    folder = Path(tempfile.mkdtemp(prefix="orienteer-stark-"))
    files: dict[str, object] = {"node_info": nodes}
    files |= {"node_type_dict": names, "edge_type_dict": {0: "also_buy"}} if names else {}
    for name, value in files.items():
        (folder / f"{name}.pkl").write_bytes(pickle.dumps(value))
    for name, numbers in (("edge_index", [[0], [1]]), ("edge_types", [0]), ("node_types", types)):
        (folder / f"{name}.pt").write_bytes(torch_file(numbers))
    import_graph([folder], folder / "graph", options=ImportOptions())
    return Graph.open(folder / "graph")


def main() -> int:
    """Compare the words of each base."""
    parser = command_line(__doc__, ())
    parser.add_argument("package", type=Path, help="the wheel of stark-qa, or the folder that it is unpacked in")
    parser.add_argument("--seed", type=int, default=41)
    parser.add_argument("--nodes", type=int, default=200, help="made of each base")
    args = parser.parse_args()
    sys.modules.update({name: MagicMock() for name in STUBBED})
    sys.path.insert(0, str(args.package))
    maker, failed = Maker(args.seed), 0
    makers: dict[str, Callable[[int], tuple[str, Fields]]] = {
        "amazon": maker.amazon,
        "mag": maker.mag,
        "prime": maker.prime,
    }
    # MAG has no file of names: these numbers are its own.
    known = {"mag": ["author", "institution", "field_of_study", "paper"]}
    for base, make in makers.items():
        made: Made = [make(number) for number in range(args.nodes)]
        kinds = known.get(base) or list(dict.fromkeys(kind for kind, _ in made))
        types, names = [kinds.index(kind) for kind, _ in made], dict(enumerate(kinds))
        nodes = {number: {"type": kind, **fields} for number, (kind, fields) in enumerate(made)}
        graph = ours(nodes, types, None if base in known else names)
        equal = 0
        for number, text in theirs(base, nodes, types, names).items():
            node = graph.node(str(number))
            told = " ".join([node.name, *node.aliases, node.text])
            lacks, more = (words(one) - words(other) for one, other in ((text, told), (told, text)))
            equal += not lacks and not more
            if lacks or more:
                print(f"{base} {number}: lacks {sorted(lacks)[:6]}, has besides {sorted(more)[:6]}")
        failed += args.nodes - equal
        print(f"{base}: {equal} of {args.nodes} nodes have the words of the package")
    return int(failed > 0)


def words(text: str) -> set[str]:
    """Return the words of a text in lower case."""
    return set(re.findall(r"\w+", text.lower()))


if __name__ == "__main__":
    sys.exit(main())

"""STaRK's knowledge bases, in folders of the exact format: pickles and tensors as its own `save_files` writes them."""

import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

from orienteer.errors import BadInput, BadOption
from orienteer.graph import Graph
from orienteer.ingest import ImportOptions, import_graph, update_graph, validate_sources
from orienteer.lab.evaluation import evaluate, read_questions, read_run, score_runs
from torch_files import torch_file

pytestmark = pytest.mark.process  # pickles are read in one

REVIEWS = [
    {"reviewerID": "A1", "summary": "Sturdy", "style": {"Color:": " red"}, "reviewText": "Holds a thousand cards.",
     "vote": "1,024", "overall": 5.0, "verified": True, "reviewTime": "01 2, 2015"},
    {"reviewerID": "A2", "summary": "Too\nsmall", "style": np.nan, "reviewText": "Mine | do not fit.",
     "vote": np.nan, "overall": 2.0, "verified": False, "reviewTime": "03 4, 2016"},
]  # fmt: skip
AMAZON_NODES = {
    0: {
        "review": REVIEWS,
        "qa": [
            {
                "questionType": "yes/no",
                "answerType": "Y",
                "question": "Is it wood?",
                "answer": "It is.",
                "answerTime": "-1",
            }
        ],
        "color": ["red"],
        "asin": "B000",
        "title": "Card Box",
        "global_category": "Games",
        "category": ["boxes"],
        "price": "$12",
        "brand": "Acme",
        "feature": ["Oak", "ASIN: B000"],
        "details": {"product_dimensions": "3 x 4"},
        "description": ["A box for cards."],
    },
    1: {"review": [], "qa": [], "asin": "B001", "title": "Card Sleeve", "description": []},
    2: {"brand_name": np.str_("Acme")},
    3: {"category_name": np.str_("boxes")},
    4: {"color_name": np.str_("red")},
}
AMAZON = {
    "node_info": AMAZON_NODES,
    "edge_index": [[0, 0, 1, 0, 0, 0, 0], [1, 1, 0, 2, 3, 4, 1]],
    "edge_types": [0, 1, 1, 2, 3, 4, 0],
    "node_types": [0, 0, 1, 2, 3],
    "node_type_dict": {0: "product", 1: "brand", 2: "category", 3: "color"},
    "edge_type_dict": {0: "also_buy", 1: "also_view", 2: "has_brand", 3: "has_category", 4: "has_color"},
}
MAG = {
    "node_info": {
        np.int64(0): {"type": "author", "DisplayName": "Ada Holm", "PaperCount": 3, "mag_id": 77, "LastKnown": -1},
        np.int64(1): {"type": "institution", "DisplayName": "North College", "CitationCount": -1},
        np.int64(2): {"type": "field_of_study", "DisplayName": "Optics"},
        np.int64(3): {"type": "paper", "title": "On lenses", "abstract": "We grind.", "Date": "2001-01-02",
                      "OriginalVenue": -1.0, "JournalDisplayName": "-1"},
    },
    "edge_index": [[0, 3, 3, 0], [1, 3, 2, 3]],
    "edge_types": [0, 1, 2, 3],
    "node_types": [0, 1, 2, 3],
}  # fmt: skip
PRIME = {
    "node_info": {
        0: {"id": "9796", "type": "gene/protein", "name": "PHYHIP", "source": "NCBI",
            "details": {"query": "PHYHIP", "_id": "9796", "alias": ["DYRK1AP3", "PAHX"],
                        "type_of_gene": "protein-coding",
                        "generif": [{"pubmed": 1, "text": "It interacts."}, {"pubmed": 2, "text": "In brain."}],
                        "summary": "Enables protein binding."}},
        1: {"id": "DB01", "type": "drug", "name": "Lepirudin", "source": "DrugBank",
            "details": {"description": "Lepirudin is a recombinant hirudin from yeast cells.",
                        "half_life": float("nan"), "state": "liquid"}},
    },
    "edge_index": [[0, 1, 0, 0], [1, 0, 1, 1]],
    "edge_types": [3, 3, 3, 4],
    "node_types": [1, 3],
    "node_type_dict": {1: "gene/protein", 3: "drug"},
    "edge_type_dict": {3: "target", 4: "carrier"},
}  # fmt: skip


def save_files(folder, parts, protocol=4):
    """Write dictionaries as pickles and lists as tensors, as STaRK's function of this name does."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in parts.items():
        if isinstance(part, dict):
            (folder / f"{name}.pkl").write_bytes(pickle.dumps(part, protocol))
        else:
            (folder / f"{name}.pt").write_bytes(torch_file(part))
    return folder


@pytest.fixture
def made(tmp_path):
    """Give a function that imports a folder and opens the graph, and returns the report with it."""

    def make(folder, **options):
        report = import_graph([folder], tmp_path / "graph", options=ImportOptions(force=True, **options))
        return Graph.open(tmp_path / "graph"), report

    return make


def _edges(graph):
    return sorted((edge.source, edge.type, edge.target) for edge in graph.iter_edges())


# The words that STaRK's package says of made nodes; the file says how they were taken.
EXPECTED = json.loads((Path(__file__).parent / "stark_documents.json").read_text(encoding="utf-8"))


def words_in(text):
    return " ".join(sorted(set(re.findall(r"\w+", text.lower()))))


def _folder_of(base, folder):
    """Write the expected nodes of a base as its folder."""
    rows = EXPECTED[base]
    names = list(dict.fromkeys(row["type"] for row in rows))  # MAG's in the order of their numbers
    parts = {
        "node_info": {number: row["fields"] for number, row in enumerate(rows)},
        "edge_index": [[0], [1]],
        "edge_types": [0],
        "node_types": [names.index(row["type"]) for row in rows],
    }
    tables = {"node_type_dict": dict(enumerate(names)), "edge_type_dict": {0: "also_buy"}}
    return save_files(folder, parts | ({} if base == "mag" else tables))


@pytest.mark.parametrize("base", ["amazon", "mag", "prime"])
def test_a_node_is_ranked_by_the_words_of_starks_own_document(tmp_path, made, base):
    graph, report = made(_folder_of(base, tmp_path / base))
    assert set(report.node_types) == {row["type"] for row in EXPECTED[base]}  # no table, no review
    for number, row in enumerate(EXPECTED[base]):
        node = graph.node(str(number))
        assert words_in(" ".join([node.name, *node.aliases, node.text])) == row["words"], row["fields"]


def test_what_no_document_has_is_a_property_or_told(tmp_path, made):
    graph, report = made(_folder_of("amazon", tmp_path / "amazon"))
    beyond = "5 rows after the 27 of a document: --text tables keeps all"  # 3 of 30 and 2 of 29
    assert beyond in report.notes
    lantern = graph.node("0").properties
    assert (lantern["brand"], lantern["category"], lantern["price"]) == ("Acme & Sons", ["lamps"], "$12")
    assert lantern["rank"] == "1,234 in Sports & Outdoors (See Top 100)"
    graph, _ = made(_folder_of("mag", tmp_path / "mag"))
    dust = graph.node("6").properties  # only its journal is in its document
    assert dust["ConferenceSeriesDisplayName"] == "A series of seven words and one more"
    assert dust["Date"] == "1999-05-06"


def test_a_private_field_is_in_no_document(tmp_path, made):
    graph, report = made(_folder_of("amazon", tmp_path / "amazon"), private=("review", "brand"))
    assert "word1" not in graph.node("0").text
    assert "Acme" not in graph.node("0").text
    assert "ask1" in graph.node("0").text
    assert report.notes == ("2 rows after the 27 of a document: --text tables keeps all",)


def test_a_question_about_a_review_finds_its_product(tmp_path, made):
    said = {12: "It survived a storm at sea and it glows turquoise.", 9: "A storm broke it.", 7: "It glows."}
    nodes = {
        n: {"title": f"Lantern {n}", "feature": ["Brass"], "description": ["A lantern for camps."], "qa": [],
            "review": [{"summary": "Good", "reviewText": said.get(n, "Fine lantern at night."), "vote": np.nan}]}
        for n in range(32)
    }  # fmt: skip
    parts = {"node_info": nodes, "edge_index": [[0], [1]], "edge_types": [0], "edge_type_dict": {0: "also_buy"}}
    graph, _ = made(save_files(tmp_path / "amazon", parts))
    qa = tmp_path / "qa" / "amazon"
    asked = "a lantern that survived a storm at sea and glows turquoise"
    for name, text in {
        "stark_qa/stark_qa.csv": f"id,query,answer_ids\n3,{asked},[12]\n",
        "split/test-0.1.index": "3\n",
    }.items():
        (qa / name).parent.mkdir(parents=True)
        (qa / name).write_text(text)
    evaluate(graph, read_questions(qa, split="test-0.1"), ["bm25"], tmp_path / "run")
    (row,) = score_runs([read_run(tmp_path / "run")])
    assert row.measures["Hit@1"].mean == 1


def test_a_paper_is_found_by_its_date(tmp_path, made):
    graph, _ = made(save_files(tmp_path / "mag" / "processed", MAG).parent)
    assert [hit.id for hit in graph.search("2001", 5)] == ["3"]


def test_amazon_with_reviews_in_the_documents(tmp_path, made):
    save_files(tmp_path / "processed", {"node_info": {}})  # the older cache above it
    save_files(tmp_path / "processed" / "cache" / "brand-category-color", AMAZON)
    graph, report = made(tmp_path)
    assert report.node_types == {"product": 2, "brand": 1, "category": 1, "color": 1}
    assert [hit.id for hit in graph.search("thousand cards", 1)] == ["0"]
    assert {edge[1] for edge in _edges(graph)} == {"also_buy", "also_view", "has_brand", "has_category", "has_color"}


def test_an_update_makes_the_same_texts_again(tmp_path, made):
    folder = save_files(tmp_path / "a", AMAZON)
    graph, _ = made(folder, text="tables")
    nodes = {**AMAZON_NODES, 1: {**AMAZON_NODES[1], "title": "Card Sleeves"}}
    save_files(folder, {"node_info": nodes})
    report = update_graph([folder], tmp_path / "graph", options=ImportOptions())
    assert report.node_types["table"] == 2
    assert Graph.open(tmp_path / "graph").node("1").name == "Card Sleeves"
    with pytest.raises(BadInput, match="text was 'tables'"):
        update_graph([folder], tmp_path / "graph", options=ImportOptions(text="documents"))


def test_amazon_with_reviews_as_tables(tmp_path, made):
    graph, report = made(save_files(tmp_path / "a", AMAZON), text="tables")
    assert report.node_types == {"product": 2, "brand": 1, "category": 1, "color": 1, "table": 2}
    box = graph.node("0")
    assert (box.type, box.name, box.text) == ("product", "Card Box", "Oak\nASIN: B000\nA box for cards.")
    assert box.properties["brand"] == "Acme"
    assert box.properties["product_dimensions"] == "3 x 4"
    assert graph.node("2").name == "Acme"
    table = graph.node("review:0")
    assert (table.type, table.name) == ("table", "Card Box: review")
    assert table.text.splitlines() == [
        "summary | reviewText | overall | vote | verified | style | reviewTime | reviewerID",
        'Sturdy | Holds a thousand cards. | 5.0 | 1,024 | true | {"Color:": " red"} | 01 2, 2015 | A1',
        "Too small | Mine | do not fit. | 2.0 |  | false |  | 03 4, 2016 | A2",
    ]
    assert ("0", "has_review", "review:0") in _edges(graph)
    assert ("0", "has_qa", "qa:0") in _edges(graph)
    assert [hit.id for hit in graph.search("thousand cards", 1)] == ["review:0"]


def test_every_edge_stays_in_its_direction_and_as_often(tmp_path, made):
    graph, report = made(save_files(tmp_path / "a", AMAZON))
    own = [edge for edge in _edges(graph) if edge[1].startswith("also")]
    assert own == [("0", "also_buy", "1"), ("0", "also_buy", "1"), ("0", "also_view", "1"), ("1", "also_view", "0")]
    assert report.edges == 7
    assert not report.merged
    assert not report.dropped
    assert not report.symmetric


def test_amazon_with_reviews_as_nodes(tmp_path, made):
    graph, report = made(save_files(tmp_path / "a", AMAZON), explode={"review": "has_review"}, text="tables")
    assert report.node_types["review"] == 2
    assert report.node_types["table"] == 1  # the questions
    review = graph.node("review:0:0")
    assert (review.name, review.text) == ("Sturdy", "Holds a thousand cards.")
    assert review.properties["overall"] == 5.0
    assert review.properties["vote"] == "1,024"
    assert "vote" not in graph.node("review:0:1").properties
    assert ("0", "has_review", "review:0:1") in _edges(graph)


def test_lists_can_be_left_out(tmp_path, made):
    graph, report = made(save_files(tmp_path / "a", AMAZON), private=("review", "qa"), text="tables")
    assert "table" not in report.node_types
    assert len(graph) == 5


def test_amazon_without_brands_has_products_alone(tmp_path, made):
    nodes = {number: AMAZON_NODES[number] for number in (0, 1)}
    parts = {
        "node_info": nodes,
        "edge_index": [[0], [1]],
        "edge_types": [1],
        "edge_type_dict": {0: "also_buy", 1: "also_view"},
    }
    graph, _ = made(save_files(tmp_path / "a", parts), private=("review", "qa"))
    assert graph.node("1").type == "product"
    assert _edges(graph) == [("0", "also_view", "1")]


def test_mag_brings_its_own_names(tmp_path, made):
    graph, report = made(save_files(tmp_path / "mag" / "processed", MAG).parent)
    assert report.node_types == {"author": 1, "institution": 1, "field_of_study": 1, "paper": 1}
    assert report.labels["author___writes___paper"] == "writes"
    assert report.labels["paper___has_topic___field_of_study"] == "has topic"
    paper = graph.node("3")
    assert (paper.type, paper.name) == ("paper", "On lenses")
    assert dict(paper.properties) == {"Date": "2001-01-02"}
    assert dict(graph.node("0").properties) == {"PaperCount": 3, "mag_id": 77}
    assert ("3", "paper___cites___paper", "3") in _edges(graph)


def test_prime_keeps_details(tmp_path, made):
    graph, report = made(save_files(tmp_path / "prime", PRIME, protocol=5), text="tables")
    gene = graph.node("0")
    assert gene.text == "It interacts.\nIn brain.\nEnables protein binding."
    assert gene.aliases == ("DYRK1AP3", "PAHX")
    assert gene.properties["type_of_gene"] == "protein-coding"
    assert gene.properties["source"] == "NCBI"
    drug = graph.node("1")
    assert drug.text.startswith("Lepirudin is")
    assert "half_life" not in drug.properties
    assert drug.properties["state"] == "liquid"
    assert report.edges == 4  # the same edge twice, its reverse, and a parallel one


def _changed(parts, **changes):
    return {name: part for name, part in {**parts, **changes}.items() if part is not None}


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (_changed(AMAZON, edge_types=None), "edge_types.pt is missing"),
        (_changed(AMAZON, edge_type_dict=None), "edge_type_dict.pkl is missing"),
        (_changed(AMAZON, node_types=None), "node_types.pt is missing"),
        (_changed(AMAZON, node_types=[0, 0, 1, 2]), "no type for the node 4"),
        (_changed(AMAZON, node_types=[0, 0, 1, 2, 3, 3]), "6 types for 5 nodes"),
        (_changed(AMAZON, node_types=[0, 0, 1, 2, 9]), "no name for the type 9"),
        (_changed(AMAZON, edge_types=[0, 1]), r"shapes \(2, 7\) and \(2,\)"),
        (_changed(AMAZON, edge_types=[9] * 7), "no name for the type 9"),
        (_changed(AMAZON, edge_index=[[0] * 7, [5] * 7]), "ends outside of 0 to 4"),
        (_changed(AMAZON, edge_index=[[0] * 7, [-1] * 7]), "ends outside of 0 to 4"),
        (_changed(AMAZON, node_info={"a": {}}), "'a' is not a number"),
        (_changed(AMAZON, node_info={0: 7}), "no fields but '7'"),
        (_changed(AMAZON, node_info={0: {"name": print}}), r"builtins\.print"),
    ],
)
def test_parts_that_do_not_fit_together(tmp_path, parts, said):
    folder = save_files(tmp_path / "a", parts)
    with pytest.raises(BadInput, match=said):
        validate_sources([folder])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["edge_index", "edge_types", "node_types"])
def test_numbers_that_are_not_whole_are_refused_and_whole_ones_are_read(tmp_path, made, name):
    folder = save_files(tmp_path / "a", AMAZON)
    right = np.asarray(AMAZON[name], "f4")
    (folder / f"{name}.pt").write_bytes(torch_file(right, "f4"))
    graph, _ = made(folder)
    assert _edges(graph) == _edges(made(save_files(tmp_path / "b", AMAZON))[0])
    for wrong in (np.nan, 0.5, np.inf):
        numbers = right.copy()
        numbers[(0,) * right.ndim] = wrong
        (folder / f"{name}.pt").write_bytes(torch_file(numbers, "f4"))
        with pytest.raises(BadInput, match="not whole"):
            validate_sources([folder])


def test_options_that_have_no_meaning(tmp_path):
    folder = save_files(tmp_path / "a", AMAZON)
    with pytest.raises(BadOption, match="no list 'brand'"):
        validate_sources([folder], options=ImportOptions(explode={"brand": "has"}))
    with pytest.raises(BadOption, match="--explode review: a product's text has its rows: add --text tables"):
        validate_sources([folder], options=ImportOptions(explode={"review": "has"}))
    (tmp_path / "people.csv").write_text("id,name\n1,Ada\n")
    with pytest.raises(BadOption, match="--text has no meaning for .*people"):
        validate_sources([tmp_path / "people.csv"], options=ImportOptions(text="tables"))
    with pytest.raises(BadOption, match="--text-from has no meaning"):
        validate_sources([folder], options=ImportOptions(text_from=("brand",)))
    with pytest.raises(BadOption, match="--column has no meaning"):
        validate_sources([folder], options=ImportOptions(columns={"id": "asin"}))


def test_a_packed_knowledge_base(tmp_path):
    (tmp_path / "processed.zip").write_bytes(b"PK\x03\x04")
    with pytest.raises(BadInput, match=r"processed\.zip is packed"):
        validate_sources([tmp_path])


def test_torch_writes_the_same_folder(tmp_path, made):
    torch = pytest.importorskip("torch")
    folder = save_files(tmp_path / "a", {name: part for name, part in AMAZON.items() if isinstance(part, dict)})
    for name in ("edge_index", "edge_types", "node_types"):
        torch.save(torch.LongTensor(AMAZON[name]), folder / f"{name}.pt")
    by_torch, _ = made(folder)
    edges = _edges(by_torch)
    by_hand, _ = made(save_files(tmp_path / "b", AMAZON))
    assert edges == _edges(by_hand)

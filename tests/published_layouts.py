"""Small data sets in the layouts in which STaRK, GRBench, OTT-QA and GraphSearch's six sets are published."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch_files import torch_file

SAID = "It was carved by hand in a village on the coast, where people still use one every night of the long winter"
"""Words that make a text long enough for edges of similarity, which need twenty."""


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def _base(folder: Path, parts: Mapping[str, Any]) -> None:
    folder.mkdir(parents=True)
    for name, part in parts.items():
        if isinstance(part, dict):
            (folder / f"{name}.pkl").write_bytes(pickle.dumps(part, 4))
        else:
            (folder / f"{name}.pt").write_bytes(torch_file(part))


def _asked(folder: Path, *pairs: tuple[str, str]) -> None:
    rows = "".join(f'{at},"{question}","[{answer}]"\n' for at, (question, answer) in enumerate(pairs))
    _write(folder / "stark_qa" / "stark_qa.csv", f"id,query,answer_ids\n{rows}")
    _write(folder / "stark_qa" / "stark_qa_human_generated_eval.csv", f"id,query,answer_ids\n{rows}")
    for split, ids in {"train": "0\n", "val": "1\n", "test": "0\n1\n", "test-0.1": "0\n"}.items():
        _write(folder / "split" / f"{split}.index", ids)


def stark(folder: Path) -> Path:
    """Write STaRK's three bases: lanterns, papers on lanterns, and genes."""
    things = ("lantern", "kettle", "ladder")
    review = [{"reviewerID": "A1", "summary": "Sturdy", "reviewText": "It holds.", "overall": 5.0}]
    products = {
        at: {"title": f"Oak {thing}", "description": [f"A {thing} of oak. {SAID}"], "review": review, "qa": []}
        for at, thing in enumerate(things)
    }
    _base(
        folder / "skb" / "amazon" / "processed" / "cache" / "brand-category-color",
        {
            "node_info": {**products, 3: {"brand_name": "Acme"}},
            "edge_index": [[0, 1, 0], [1, 2, 3]],
            "edge_types": [0, 1, 2],
            "node_types": [0, 0, 0, 1],
            "node_type_dict": {0: "product", 1: "brand"},
            "edge_type_dict": {0: "also_buy", 1: "also_view", 2: "has_brand"},
        },
    )
    papers = {
        at: {"type": "paper", "title": f"On the {thing}", "abstract": f"{thing}. {SAID}"}
        for at, thing in enumerate(things)
    }
    people = {
        3: {"type": "author", "DisplayName": "Ada Holm"},
        4: {"type": "institution", "DisplayName": "North College"},
        5: {"type": "field_of_study", "DisplayName": "Optics"},
    }
    _base(
        folder / "skb" / "mag" / "processed",
        {
            "node_info": {**papers, **people},
            "edge_index": [[3, 0, 0, 3], [4, 1, 5, 0]],
            "edge_types": [0, 1, 2, 3],
            "node_types": [3, 3, 3, 0, 1, 2],
        },
    )
    genes = {
        at: {"id": str(at), "type": "gene/protein", "name": f"{thing.upper()}1", "source": "NCBI",
             "details": {"summary": f"A protein of the {thing}. {SAID}"}}
        for at, thing in enumerate(things)
    }  # fmt: skip
    _base(
        folder / "skb" / "prime" / "processed",
        {
            "node_info": {**genes, 3: {"id": "DB01", "type": "drug", "name": "Lepirudin", "source": "DrugBank",
                                       "details": {"description": f"A drug for the ladder. {SAID}"}}},
            "edge_index": [[0, 3], [1, 0]],
            "edge_types": [2, 3],
            "node_types": [1, 1, 1, 3],
            "node_type_dict": {1: "gene/protein", 3: "drug"},
            "edge_type_dict": {2: "ppi", 3: "target"},
        },
    )  # fmt: skip
    _asked(folder / "qa" / "amazon", ("an oak lantern", "0"), ("the oak kettle", "1"))
    _asked(folder / "qa" / "mag", ("the lantern", "0"), ("the kettle", "1"))
    _asked(folder / "qa" / "prime", ("a protein of the lantern", "0"), ("a protein of the kettle", "1"))
    return folder


GRAPHS = ("amazon", "biomedical", "dblp", "goodreads", "legal", *(
    f"maple/{name}" for name in ("Biology", "Chemistry", "Materials_Science", "Medicine", "Physics")
))  # fmt: skip


def grbench(folder: Path) -> Path:
    """Write GRBench's ten graphs with two questions each."""
    graph = {
        "paper_nodes": {
            "p1": {"features": {"title": "On lenses"}, "neighbors": {"author": ["a1"], "venue": ["v1"]}},
            "p2": {"features": {"title": "On mirrors"}, "neighbors": {"author": ["a2"], "venue": ["v1"]}},
            "p3": {"features": {"title": "On prisms"}, "neighbors": {"author": ["a3"], "venue": ["v1"]}},
        },
        "author_nodes": {
            "a1": {"features": {"name": "Ada Holm"}, "neighbors": {"paper": ["p1"]}},
            "a2": {"features": {"name": "Noor Vik"}, "neighbors": {"paper": ["p2"]}},
            "a3": {"features": {"name": "Ida Rask"}, "neighbors": {"paper": ["p3"]}},
        },
        "venue_nodes": {"v1": {"features": {"name": "Optics"}, "neighbors": {"paper": ["p1", "p2", "p3"]}}},
    }
    questions = (
        {"qid": "0", "question": "Who is the author of On lenses?", "answer": "Ada Holm"},
        {"qid": "10", "question": "Who is the author of On mirrors?", "answer": "Noor Vik"},
    )
    for name in GRAPHS:
        _write(folder / "processed_data" / name / "graph.json", graph)
        _write(folder / "processed_data" / name / "data.json", "".join(f"{json.dumps(row)}\n" for row in questions))
    return folder


def ottqa(folder: Path) -> Path:
    """Write OTT-QA's own files: two tables, and the passages that they link to."""
    told = {
        "/wiki/Salt": f"Salt is a film by Ada Holm about two sisters on the coast. {SAID}.",
        "/wiki/Ferry": f"Ferry is a film by Noor Vik about a night at sea. {SAID}.",
        "/wiki/Coast": f"Coast is a film by Ada Holm about a storm. {SAID}.",
    }
    for name in ("Films_0", "Songs_0"):
        cells = [[[link.removeprefix("/wiki/"), [link]], [str(1990 + at), []]] for at, link in enumerate(told)]
        table = {"uid": name, "title": name[:-2], "header": [["Name", []], ["Year", []]], "data": cells,
                 "section_title": "List"}  # fmt: skip
        _write(folder / "data" / "traindev_tables_tok" / f"{name}.json", table)
        _write(folder / "data" / "traindev_request_tok" / f"{name}.json", told)
    _write(
        folder / "released_data" / "train_dev_test_table_ids.json",
        {"train": [], "dev": ["Films_0", "Songs_0"], "test": []},
    )
    traced = [["Salt", [0, 0], "/wiki/Salt", "passage"]]
    row = {"question_id": "o1", "question": "Who made the film Salt about two sisters?", "table_id": "Films_0",
           "answer-text": "Ada Holm", "answer-node": traced}  # fmt: skip
    _write(folder / "released_data" / "dev.traced.json", [row])
    return folder


def graphsearch(folder: Path) -> Path:
    """Write HippoRAG's files of three sets, and HyperGraphRAG's of three domains."""
    texts = {
        "Salt": f"Salt is a film by Ada Holm. {SAID}.",
        "Ferry": f"Ferry is a film by Noor Vik, who was born in Oslo. {SAID}.",
    }
    corpus = [{"title": title, "text": text} for title, text in texts.items()]
    context = [[title, [text]] for title, text in texts.items()]
    asked = {"question": "Who made the film Salt?", "answer": "Ada Holm"}
    facts = {"_id": "q1", **asked, "context": context, "supporting_facts": [["Salt", 0]]}
    paragraphs = [
        {"idx": at, "title": title, "paragraph_text": text, "is_supporting": title == "Salt"}
        for at, (title, text) in enumerate(texts.items())
    ]
    sets = {
        "hotpotqa": {**facts, "type": "bridge", "level": "hard"},
        "2wikimultihopqa": {**facts, "evidences": [["Salt", "made by", "Ada Holm"]]},
        "musique": {"id": "2hop__1_2", **asked, "answer_aliases": [], "paragraphs": paragraphs},
    }
    for name, row in sets.items():
        _write(folder / f"{name}.json", [row])
        _write(folder / f"{name}_corpus.json", corpus)
    for domain in ("hypertension", "agriculture", "legal"):
        row = {"question": asked["question"], "golden_answers": ["Ada Holm"], "nary": 2, "nhop": 1,
               "context": ["Salt is a film by Ada Holm."]}  # fmt: skip
        _write(folder / "datasets" / domain / "questions.json", [row])
        _write(folder / "contexts" / f"{domain}_contexts.json", [" ".join(texts.values())])
    return folder

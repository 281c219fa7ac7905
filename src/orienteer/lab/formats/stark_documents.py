"""The documents by which STaRK ranks its nodes, written from their fields.

They have the words of `get_doc_info` in STaRK's package without relations, as its BM25 takes them (stark-qa 1.1.0). The
name and the aliases of a node are not written again: the index reads them before the text. What a row or a paper lacks
is the word `nan` there, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from orienteer.lab.formats.fields import ALIASES

Fields: TypeAlias = Mapping[str, Any]  # Any: JSON

MOST_ROWS = 27
"""Reviews, and questions, of a product in its document: STaRK ends two after its `max_entries` of 25."""
MOST_REMARKS = 50_000
"""Words of the remarks on a gene."""
COUNTED = {"author": "author", "institution": "institution", "field_of_study": "field"}
"""What the counts of MAG's nodes beside papers are called."""
VENUES = {
    "OriginalVenue": "venue",
    "JournalDisplayName": "journal",
    "ConferenceSeriesDisplayName": "conference",
    "ConferenceInstancesDisplayName": "conference",
}
"""Where a paper appeared; its document has the first that is known."""
OF_GENES = {
    "name": "gene name",
    "type_of_gene": "gene types",
    "alias": "other gene names",
    "other_names": "gene names, extended, other",
    "genomic_pos": "position, genomic",
    "generif": "text, PubMed",
    "interpro": "classification and family information, protein",
    "summary": "text, summary, protein",
}
"""What fields of genes are called."""


def document(node_type: str, fields: Fields) -> str:
    """Return the document of a node."""
    if node_type == "product":
        lines = _product(fields)
    elif node_type == "paper":
        lines = _paper(fields)
    elif node_type in COUNTED:
        lines = _counted(node_type, fields)
    elif f"{node_type}_name" in fields:
        lines = iter([f"{node_type} name"])
    else:
        lines = _entity(node_type, fields)
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------------------------- AMAZON


def _product(fields: Fields) -> Iterator[str]:
    yield "product"
    if "brand" in fields:
        yield f"brand: {fields['brand']}"
    details = fields.get("details")
    sizes = details.get("product_dimensions") if isinstance(details, dict) else None
    parts = sizes.split(" ; ") if isinstance(sizes, str) else []
    if len(parts) == 2:
        yield "dimensions: {}, weight: {}".format(*parts)
    if description := " ".join(map(str, _members(fields, "description"))).strip(" "):
        yield f"description: {description}"
    if features := _members(fields, "feature"):
        yield "features"
        for number, feature in enumerate(map(str, features), 1):
            if feature and "asin" not in feature.lower():
                yield f"{number}. {feature}"
    yield from _rows(fields)


def _rows(fields: Fields) -> Iterator[str]:
    """Yield what a product's reviews and questions say."""
    if reviews := rows_of(fields, "review"):
        yield "reviews"
        # Most reviews have no votes; which of equal ones come first is left to numpy, as STaRK does.
        order = np.argsort(-np.array([_votes(review.get("vote")) for review in reviews]))
        for place in order[:MOST_ROWS].tolist():
            yield f"{place + 1}. summary: {reviews[place].get('summary', '')}"
            yield f"text: {reviews[place].get('reviewText', '')}"
    if asked := rows_of(fields, "qa"):
        yield "Q&A"
        for number, row in enumerate(asked[:MOST_ROWS], 1):
            yield f"{number}. question: {row.get('question', '')} answer: {row.get('answer', '')}"


def rows_of(fields: Fields, name: str) -> list[dict[str, Any]]:  # Any: JSON
    """Return the rows of a product's list."""
    return [row for row in _members(fields, name) if isinstance(row, dict) and row]


def _members(fields: Fields, name: str) -> list[Any]:  # Any: JSON
    value = fields.get(name)
    return value if isinstance(value, list) else [value] if isinstance(value, str) and value else []


def _votes(value: Any) -> int:  # Any: JSON
    digits = str(value).replace(",", "")
    return int(digits) if digits.isdecimal() else 0


# ---------------------------------------------------------------------------------------------------------------- MAG


def _paper(fields: Fields) -> Iterator[str]:
    yield f"paper title; abstract: {fields.get('abstract', '')}".replace("\r", "").rstrip("\n")
    known = {name: value for name, value in fields.items() if str(value) != "-1"}
    if "Date" in known:
        yield f"publication date: {known['Date']}"
    yield from [f"{what}: {known[name]}" for name, what in VENUES.items() if name in known][:1]


def _counted(node_type: str, fields: Fields) -> Iterator[str]:
    yield {"author": "author name", "field_of_study": "field of study"}.get(node_type, node_type)
    for name, what in (("PaperCount", "paper"), ("CitationCount", "citation")):
        if (count := fields.get(name, -1)) != -1:
            yield f"{COUNTED[node_type]} {what} count: {count}".replace("-1", "Unknown")


# -------------------------------------------------------------------------------------------------------------- PRIME


def _entity(node_type: str, fields: Fields) -> Iterator[str]:
    yield f"name; type: {fields.get('type', node_type)}; source: {fields.get('source', '')}"
    details = fields.get("details")
    lines = []
    for key, value in (_filled(details) if isinstance(details, dict) else {}).items():
        if key.startswith("_") or "_id" in key:
            continue
        what = OF_GENES.get(key) if node_type == "gene/protein" else None
        label = f"{key} ({what})" if what else key
        lines.append(label if key in ALIASES else f"{label}: {_of_gene(key, value) if what else value}")
    if lines:
        yield "details"
        yield from lines


def _filled(value: dict[str, Any]) -> dict[str, Any]:  # Any: JSON
    """Return an object without members that say nothing, at any depth."""
    filled = {key: _filled(member) if isinstance(member, dict) else member for key, member in value.items()}
    return {key: member for key, member in filled.items() if str(member) not in ("", "nan")}


def _of_gene(key: str, value: Any) -> str:  # Any: JSON
    """Return what a gene's document has of a field: the first position, the texts of remarks and families."""
    several = value if isinstance(value, list) else [value]
    if key == "genomic_pos":
        return str(several[:1])
    inner = {"generif": "text", "interpro": "desc"}.get(key)
    if inner is None:
        return str(value)
    told = [str(one.get(inner, "")) for one in several if isinstance(one, dict)]
    return " ".join("; ".join(told).split(" ")[:MOST_REMARKS]) if key == "generif" else str(told)

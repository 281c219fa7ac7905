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
VENUES = ("OriginalVenue", "JournalDisplayName", "ConferenceSeriesDisplayName", "ConferenceInstancesDisplayName")
"""Where a paper appeared; its document has the first that is known."""
OF_GENES = {
    "name": "gene name", "type_of_gene": "gene types", "alias": "other gene names", "generif": "text, PubMed",
    "other_names": "gene names, extended, other", "genomic_pos": "position, genomic",
    "summary": "text, summary, protein", "interpro": "classification and family information, protein",
}  # fmt: skip
"""What fields of genes are called."""


def document(node_type: str, fields: Fields) -> str:
    """Return the document of a node."""
    if f"{node_type}_name" in fields:
        return f"{node_type} name"
    of_type = {"product": _product, "paper": _paper} | dict.fromkeys(
        ("author", "institution", "field_of_study"), _counted
    )
    return "\n".join(of_type.get(node_type, _entity)(node_type, fields))


def rows_of(fields: Fields, name: str) -> list[dict[str, Any]]:  # Any: JSON
    """Return the rows of a product's list."""
    rows = fields.get(name)
    return [row for row in rows if isinstance(row, dict) and row] if isinstance(rows, list) else []


def _product(node_type: str, fields: Fields) -> Iterator[str]:
    yield node_type
    if "brand" in fields:
        yield f"brand: {fields['brand']}"
    details = fields.get("details")
    sizes = str(details.get("product_dimensions")).split(" ; ") if isinstance(details, dict) else []
    if len(sizes) == 2:
        yield "dimensions: {}, weight: {}".format(*sizes)
    told, features = (value if isinstance(value, list) else [] for value in map(fields.get, ("description", "feature")))
    if description := " ".join(map(str, told)).strip(" "):
        yield f"description: {description}"
    if features:
        yield "features"
    known = [(number, str(feature)) for number, feature in enumerate(features, 1) if feature]
    yield from (f"{number}. {feature}" for number, feature in known if "asin" not in feature.lower())
    reviews, asked = rows_of(fields, "review"), rows_of(fields, "qa")
    votes = [str(review.get("vote")).replace(",", "") for review in reviews]
    # Most reviews have no votes; which of equal ones come first is left to numpy, as STaRK does.
    order = np.argsort([-int(count) if count.isdecimal() else 0 for count in votes])
    yield from ["reviews"] * bool(reviews)
    for place in order[:MOST_ROWS].tolist():
        yield f"{place + 1}. summary: {reviews[place].get('summary', '')}\ntext: {reviews[place].get('reviewText', '')}"
    yield from ["Q&A"] * bool(asked)
    for number, row in enumerate(asked[:MOST_ROWS], 1):
        yield f"{number}. question: {row.get('question', '')}\nanswer: {row.get('answer', '')}"


def _paper(node_type: str, fields: Fields) -> Iterator[str]:
    yield f"{node_type} title; abstract: {fields.get('abstract', '')}".replace("\r", "").rstrip("\n")
    known = {name: value for name, value in fields.items() if str(value) != "-1"}
    if "Date" in known:
        yield f"publication date: {known['Date']}"
    what = ("venue", "journal", "conference", "conference")
    yield from [f"{what}: {known[name]}" for name, what in zip(VENUES, what, strict=True) if name in known][:1]


def _counted(node_type: str, fields: Fields) -> Iterator[str]:
    yield "author name" if node_type == "author" else node_type.replace("_", " ")
    for name, what in (("PaperCount", "paper"), ("CitationCount", "citation")):
        if (count := fields.get(name, -1)) != -1:
            yield f"{node_type.partition('_')[0]} {what} count: {count}".replace("-1", "Unknown")


def _entity(node_type: str, fields: Fields) -> Iterator[str]:
    yield f"name; type: {fields.get('type', node_type)}; source: {fields.get('source', '')}"
    details = fields.get("details")
    filled = _filled(details) if isinstance(details, dict) else {}
    told = {key: value for key, value in filled.items() if not key.startswith("_") and "_id" not in key}
    yield from ["details"] * bool(told)
    for key, value in told.items():
        what = OF_GENES.get(key) if node_type == "gene/protein" else None
        label = f"{key} ({what})" if what else key
        yield label if key in ALIASES else f"{label}: {_of_gene(key, value) if what else value}"


def _filled(value: dict[str, Any]) -> dict[str, Any]:  # Any: JSON
    """Return an object without members that say nothing, at any depth."""
    filled = {key: _filled(member) if isinstance(member, dict) else member for key, member in value.items()}
    return {key: member for key, member in filled.items() if str(member) not in ("", "nan")}


def _of_gene(key: str, value: Any) -> str:  # Any: JSON
    """Return what a gene's document has of a field: the first position, the texts of remarks and families."""
    several = value if isinstance(value, list) else [value]
    inner = {"generif": "text", "interpro": "desc"}.get(key)
    if inner is None:
        return str(several[:1] if key == "genomic_pos" else value)
    told = [str(one.get(inner, "")) for one in several if isinstance(one, dict)]
    return " ".join("; ".join(told).split(" ")[:50_000]) if key == "generif" else str(told)

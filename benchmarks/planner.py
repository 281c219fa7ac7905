"""A stand-in for a model that writes SPARK's plans: rules over the wording of a question.

It sees what a model would see, the request, and answers with a plan; it knows no answers and reads no graph. Its rules
were written for the templates of GRBench's biomedical questions and for turns of phrase of STaRK's questions about
PrimeKG: it shows that the course runs from end to end, and is no measure of what a model would do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, TypeAlias

Steps: TypeAlias = list[dict[str, Any]]  # Any: JSON
Hop: TypeAlias = tuple[str, str]
"""Edge types, a bar between them, and the node type that they lead to."""

_GENE = r"\b([A-Z][A-Za-z0-9-]*[A-Z0-9]|[A-Z][0-9]+)\b"
_TREATS = "CtD|CpD"
_NEAR = 3  # nodes that a phrase may mean
_ALIKE = 50  # nodes that a description may mean


def chain(name: str, node_type: str, hops: Sequence[Hop], into: str, *, k: int = 1) -> Steps:
    """Return the steps from a name along edges; the last makes the set `into`."""
    steps: Steps = [{"op": "lexical_search", "query": name, "node_types": [node_type], "k": k, "into": f"{into}_0"}]
    return [*steps, *walk(f"{into}_0", hops, into)]


def walk(start: str, hops: Sequence[Hop], into: str) -> Steps:
    """Return the steps along edges from a set."""
    steps: Steps = []
    for place, (edges, node_type) in enumerate(hops, 1):
        made = into if place == len(hops) else f"{into}_{place}"
        steps.append(
            {"op": "match", "start": start, "edge_types": edges.split("|"), "node_types": [node_type], "into": made}
        )
        start = made
    return steps


def both(one: Steps, other: Steps) -> Steps:
    """Return the steps of two chains and what they have in common."""
    return [*one, *other, {"op": "intersect", "of": [one[-1]["into"], other[-1]["into"]], "into": "both"}]


def most(symptom: str, pattern: str, counted: str) -> Steps:
    """Return the one step that counts over paths from a symptom, the most first."""
    query = f"MATCH (s:Symptom {{name: {json.dumps(symptom)}}})<-[:DpS]-(:Disease){pattern}"
    return [
        {"op": "cypher", "query": f"{query} RETURN x, count(DISTINCT {counted}) AS n ORDER BY n DESC", "into": "most"}
    ]


# --------------------------------------------------------------------------------- GRBench, biomedical, over Hetionet


def _regulated(question: str, edges: tuple[str, str, str], up: str = "upregul") -> str:
    """Return the edge that a question means: genes that are regulated down, that are regulated up, or any."""
    return edges[0] if "downregul" in question else edges[1] if re.search(up, question) else edges[2]


def _located(question: str, place: str, what: str) -> Steps:
    there = chain(place, "Anatomy", [("DlA", "Disease")], "there")
    if not re.fullmatch(_GENE, what):
        return both(there, chain(what, "Compound", [(_TREATS, "Disease")], "treated"))
    edge = _regulated(question, ("DdG", "DuG", "DaG"), "increas|amplif|upregul")
    return both(there, chain(what, "Gene", [(edge, "Disease")], "joined"))


def grbench(question: str) -> Steps | None:
    """Return a plan for a question of one of the templates, None for any other."""
    symptom = re.search(
        r"diseases? (?:\w+ )?(?:with|in|featuring|shows|causing) (.+?)"
        r"(?:, (?:which|in which|most)| participate| are found|\?)",
        question,
    )
    gene = re.search(_GENE, question)
    place = re.search(
        r"(?:located|situated|found|present|illness|sickness|ailment) in (?:the )?(.+?)(?: can\b| is\b| and\b|,|\?)",
        question,
    )
    if found := re.search(r"side effects of (?:using )?(?:compound )?(.+?)[?.]", question):
        return chain(found[1], "Compound", [("CcSE", "Side Effect")], "found")
    if "pathway" in question and symptom:
        edge = _regulated(question, ("DdG", "DuG", "DaG"))
        return most(symptom[1], f"-[:{edge}]->(g:Gene)-[:GpPW]->(x:Pathway)", "g")
    if re.search("pharmacologic|drug class", question) and symptom:
        return most(symptom[1], f"<-[:{_TREATS}]-(c:Compound)<-[:PCiC]-(x:`Pharmacologic Class`)", "c")
    if found := re.search(r"symptoms .*?(?:I have|of) (?:the disease )?(.+?)(?: are)?[?.]", question):
        return chain(found[1], "Disease", [("DpS", "Symptom")], "found")
    if "anatom" in question and gene:
        return chain(gene[1], "Gene", [(_regulated(question, ("AdG", "AuG", "AeG")), "Anatomy")], "found")
    if found := re.search(r"(?:treat|tackle|manage|cure) both (.+?) and (.+?)\?", question):
        treated = [("CtD", "Compound")]
        return both(chain(found[1], "Disease", treated, "first"), chain(found[2], "Disease", treated, "second"))
    drug = re.search(r"by ([A-Z]\w+)\?|can (?:the use of )?([A-Z]\w+) (?:help |relieve)", question)
    if place and (drug or gene):
        return _located(question, place[1], (drug[1] or drug[2]) if drug else gene[1] if gene else "")
    return None


# --------------------------------------------------------------------------------------------- STaRK, over PrimeKG

_ALL_TO_GENES = "target|enzyme|transporter|carrier"
_PROCESSES = ("biological_process", "molecular_function", "cellular_component")
_WORDS = (
    ("cellular_component", r"cell(?:ular)? (?:structures?|components?|parts?)|organelles?"),
    ("drug", r"drugs?|medications?|medicines?|pharmac\w+|compounds?|treatments?|agents?|therap\w+|inhibitors?"),
    ("disease", r"diseases?|conditions?|disorders?|illness(?:es)?|syndromes?"),
    ("gene/protein", r"genes?|proteins?"),
    ("biological_process", r"biological process(?:es)?"),
)


def wanted(question: str) -> str:
    """Return the node type that a question asks for: the one whose word stands first."""
    found = [(hit.start(), name) for name, words in _WORDS if (hit := re.search(rf"\b(?:{words})\b", question.lower()))]
    return min(found)[1] if found else "drug"


def alike(question: str, node_type: str) -> Steps:
    """Return the plan that fits every question: the nodes of a type that are nearest in meaning."""
    return [{"op": "vector_search", "query": question, "node_types": [node_type], "k": _ALIKE, "into": "alike"}]


def stark(question: str) -> Steps:
    """Return a plan for a question about drugs, genes and what they have to do with."""
    kind = wanted(question)
    genes, end = (_ALL_TO_GENES, "gene/protein"), r"(?: and\b.*| that\b.*|, .*)?[?.]"
    if found := re.search(rf"(?:transport\w*|carrier)(?: mechanism| protein)? (?:with|as) (.+?){end}", question):
        return chain(found[1], "drug", [genes, (_ALL_TO_GENES, "drug")], "found")
    if kind == "cellular_component" and (
        found := re.search(rf"(?:by|of) (?:the )?(?:[a-z]+ )*?([A-Z0-9(].+?){end}|that ([A-Z].+?) \w+s\?", question)
    ):
        return chain(found[1] or found[2], "drug", [genes, ("interacts with", "cellular_component")], "found")
    process = re.search(rf"(?:genes? or proteins?|genetic \w+)[\w ]*? (?:with|in|of|on) (?:the )?(.+?){end}", question)
    if process and kind == "drug":
        found_in: Steps = [
            {"op": "lexical_search", "query": process[1], "node_types": [*_PROCESSES], "k": _NEAR, "into": "processes"}
        ]
        return [*found_in, *walk("processes", [("interacts with", "gene/protein"), (_ALL_TO_GENES, "drug")], "found")]
    names = [name for name in re.findall(_GENE, question) if any(map(str.isdigit, name))]
    if names and kind in ("drug", "disease"):
        edges = "associated with" if kind == "disease" else _ALL_TO_GENES
        return walk(names[0], [(edges, kind)], "found")  # begins with a node of that name: there may be none
    return alike(question, kind)


# ------------------------------------------------------------------------------------------------------- the model


def reply(body: dict[str, Any]) -> str:  # Any: JSON
    """Return the plan for a request; for one that was found faulty, the plan that fits every question."""
    asked = body["messages"][1]["content"]
    question = asked.rpartition("Question: ")[2].strip()
    is_hetionet = "Pharmacologic Class" in asked
    steps = grbench(question) if is_hetionet else stark(question)
    if steps is None or any(message["role"] == "assistant" for message in body["messages"]):
        steps = alike(question, "Disease" if is_hetionet else wanted(question))
    return json.dumps({"steps": steps, "answer": steps[-1]["into"]})

"""What well-known vocabularies of RDF say: which predicates name, describe and type a node. Short names for IRIs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from urllib.parse import unquote

from orienteer.errors import BadInput, BadOption
from orienteer.ingest.tables.columns import Columns

PREFIXES: Mapping[str, str] = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "sh": "http://www.w3.org/ns/shacl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "schema": "http://schema.org/",
    "schemas": "https://schema.org/",
    "obo": "http://purl.obolibrary.org/obo/",
    "oboInOwl": "http://www.geneontology.org/formats/oboInOwl#",
    "dbo": "http://dbpedia.org/ontology/",
    "gn": "http://www.geonames.org/ontology#",
    "wikibase": "http://wikiba.se/ontology#",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "prov": "http://www.w3.org/ns/prov#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "doap": "http://usefulinc.com/ns/doap#",
}
"""Prefixes that everybody knows; they tell types apart and serve in options. Ids use those that a file declares."""
RDF, RDFS, OWL, SKOS, SHACL, XSD = (PREFIXES[prefix] for prefix in ("rdf", "rdfs", "owl", "skos", "sh", "xsd"))
KNOWN: Mapping[str, str] = {
    "name": (
        "rdfs:label skos:prefLabel schema:name schemas:name foaf:name dcterms:title dc:title gn:name vcard:fn doap:name"
    ),
    "aliases": (
        "skos:altLabel skos:hiddenLabel schema:alternateName schemas:alternateName dcterms:alternative foaf:nick "
        "gn:alternateName oboInOwl:hasExactSynonym oboInOwl:hasRelatedSynonym obo:IAO_0000118"
    ),
    "text": (
        "rdfs:comment skos:definition schema:description schemas:description dcterms:description dc:description "
        "dcterms:abstract dbo:abstract obo:IAO_0000115 skos:scopeNote"
    ),
    "type": "rdf:type",
}
"""Predicates by what they say of a node, best first. A node takes its best name; the others are aliases."""
SCHEMATIC = (RDF, RDFS, OWL, SKOS, SHACL)
"""Vocabularies whose classes say less of a node than any other: a `skos:Concept` that is a `Disease` is a Disease."""
EMPTY = frozenset({f"{OWL}Thing", f"{OWL}NamedIndividual", f"{RDFS}Resource"})
"""Classes that say nothing."""
RESERVED = ("iri", "types")
"""Properties that the import makes itself."""
_LOCAL = re.compile(r"([^#/:]+)[#/:]*$")
_NEVER = re.compile(r"(?!)")


def local_name(iri: str) -> str:
    """Return the last part of an IRI, decoded: `Łódź` of `http://ex.org/city/%C5%81%C3%B3d%C5%BA`."""
    last = _LOCAL.search(iri)
    return unquote(last[1]) if last else iri


class Prefixes:
    """Shortens IRIs by prefixes; the first that is declared for a namespace, and the longest namespace, wins."""

    def __init__(self, declared: Iterable[Mapping[str, str]]) -> None:
        self._by_namespace: dict[str, str] = {}
        known = set[str]()
        for prefix, namespace in (pair for prefixes in declared for pair in prefixes.items()):
            if namespace and prefix not in known and namespace not in self._by_namespace:
                self._by_namespace[namespace] = prefix
                known.add(prefix)
        longest = sorted(self._by_namespace, key=len, reverse=True)
        self._any = re.compile("|".join(map(re.escape, longest))) if longest else _NEVER

    def short(self, iri: str) -> str:
        """Return the prefixed form, the IRI itself where it has none."""
        namespace = self._any.match(iri)
        if namespace is None or namespace.end() == len(iri):
            return iri
        return f"{self._by_namespace[namespace[0]]}:{iri[namespace.end() :]}"


def type_names(iris: Sequence[str], prefixes: Prefixes, *, taken: Collection[str] = ()) -> dict[str, str]:
    """Return a readable name for each IRI, none twice: its last part, or the prefixed form where two share that."""
    locals_ = [local_name(iri) for iri in iris]
    counts = Counter(locals_)
    return {
        iri: local if counts[local] == 1 and local not in taken else prefixes.short(iri)
        for iri, local in zip(iris, locals_, strict=True)
    }


class PredicateRoles:
    """What each predicate says of a node, by the vocabularies and by what a person says of them."""

    def __init__(self, columns: Columns) -> None:
        self._given = {named: (role.removeprefix("node_"), -1) for role, named in columns.roles.items()}
        for role, _ in self._given.values():
            if role not in KNOWN:
                raise BadOption(f"--column {role}=...: RDF has the roles name, text, aliases and type")
        self._given |= dict.fromkeys(columns.private, ("private", 0))
        self._known = {
            PREFIXES[prefix] + local: (role, rank)
            for role, names in KNOWN.items()
            for rank, (prefix, local) in enumerate(name.split(":") for name in names.split())
        }
        self.spelled: dict[str, str] = {}
        """How an option spells a predicate that it names, by IRI."""

    def of(self, iri: str, declared: Mapping[str, str]) -> tuple[str, int]:
        """Return the role of a predicate and its rank in it, 0 the best known; ("", 0) for any other.

        An option may give the IRI, its prefixed form, or its last part.
        """
        if self._given:
            spellings = (iri, Prefixes([declared, PREFIXES]).short(iri), local_name(iri))
            named = next((spelling for spelling in spellings if spelling in self._given), None)
            if named is not None:
                self.spelled[iri] = named
                return self._given[named]
        return self._known.get(iri, ("", 0))

    def check(self, predicates: Iterable[str]) -> None:
        """Raise `BadInput` if an option names a predicate that no statement has."""
        for named, (role, _) in self._given.items():
            if named not in self.spelled.values():
                option = "--private" if role == "private" else f"--column {role}"
                some = ", ".join(sorted(predicates)[:20])
                raise BadInput(f"{option}: no statement has the predicate {named!r}. There are: {some}.")

"""RDF as a graph: a node for each IRI or blank node that is a subject or an object, an edge for what joins two.

    id          as a file's prefixes shorten it, else the IRI; `_:b1`, `_:b2`, ... for blank nodes
    type        the last part of its class; of several the most specific, all of them in the property `types`
    name        rdfs:label, skos:prefLabel, schema:name, ..., in the wanted language; else the last part of the IRI
    text        rdfs:comment, skos:definition, ..., and any other literal that is prose
    properties  all other literals, by the last part of their predicates; `iri` where the id is shorter
    edge type   the last part of the predicate, its label where the files describe it

Two predicates, or two classes, that end alike keep their prefixes. A class is a node where the files describe it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from orienteer.errors import BadInput, BadOption
from orienteer.graph.builder import GraphBuilder
from orienteer.ingest.formats.rdf.graph import RdfGraph
from orienteer.ingest.formats.rdf.nodes import Languages
from orienteer.ingest.formats.rdf.parser import RdfDocument, is_rdf
from orienteer.ingest.formats.rdf.triples import Triples
from orienteer.ingest.formats.rdf.vocabulary import PredicateRoles
from orienteer.ingest.report import Tally
from orienteer.ingest.tables import mirror
from orienteer.ingest.tables.columns import Columns
from orienteer.ingest.tables.labels import Labels
from orienteer.ingest.tables.plan import graphs


@dataclass(frozen=True, slots=True)
class RdfFiles:
    """Files of RDF that make one graph."""

    files: tuple[Path, ...]
    roles: PredicateRoles
    tally: Tally
    language: str

    def read(self, builder: GraphBuilder) -> Labels:
        """Read the files into the builder. Raises `BadInput` for a file that is not whole, `MissingExtra`."""
        documents = [RdfDocument(path) for path in self.files]
        triples = Triples(builder.spool, self.roles, self.tally)
        try:
            for document in documents:
                triples.take_file(document, partial(builder.tell, "reading statements"))
            self.roles.check(triples.predicates)
            graph = RdfGraph(triples, [document.prefixes for document in documents])
            languages = Languages(self.language)
            labels = graph.add_nodes(builder, languages)
            graph.add_edges(builder)
        finally:
            triples.clear()
        graph.count_unheard(self.tally)
        self.tally.notes += languages.note()
        if builder.edges.type_names:
            mirror.clean(builder.edges, self.tally)
        return labels


def recognize(sources: Sequence[Path], columns: Columns, tally: Tally, *, language: str) -> RdfFiles | None:
    """Return the RDF files that are named, or that lie in folders without tables; None without any.

    Raises `BadInput` if something else is named beside it, `BadOption` for an option that has no meaning for it.
    """
    files: list[Path] = []
    others: list[Path] = []
    for source in sources:
        inside = graphs(source, is_rdf)
        files += inside
        if not inside:
            others.append(source)
    if not files:
        return None
    if others:
        raise BadInput(f"{files[0]} is RDF and {others[0]} is not: import them one at a time")
    if columns.explode or columns.text_from:
        raise BadOption("--explode and --text-from have no meaning for RDF, which has no columns: leave them out")
    return RdfFiles(tuple(files), PredicateRoles(columns), tally, language)

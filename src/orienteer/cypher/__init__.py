"""Read-only Cypher behind a guard: over a derived copy in ladybug, in a separate process, or by a database's server.

Every statement takes this path, and no other leads to an engine:

    session            `Cypher.query` takes the text and returns a `QueryTable`; the protocol of an engine
    tokens, parser, expressions, patterns  the text as a tree of allowed parts (`syntax`); everything else is refused,
                       with the form to use
    names              node types, edge types and properties by any name, and the names of a view (GraphScout's)
    functions, calls, checks, kinds, projections  arguments and results of functions, comparisons, WITH and RETURN

    ladybug/           the engine over our own graphs, in a process that may neither write nor run too long; it
                       receives the tree and writes its own text
    orienteer.connect  the tree as text for the server of a database in place

Another engine is another class with the members of `Engine`: `Cypher(graph, MyEngine)`.
"""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "algebra.engine": "Arrays as ArraysEngine",
        "confined": "ConfinedEngine",
        "kinds": "rendered as constant_text",
        "ladybug.database": "CATALOG as COPY_CATALOG, DATABASE as COPY_DATABASE, is_copy_new",
        "ladybug.engine": "Ladybug as LadybugEngine",
        "ladybug.process": "Process as EngineProcess",
        "ladybug.translation": "rewrite as rewrite_for_engine",
        "names": (
            "Bounds as TableBounds, Catalog as CopyCatalog, identifiers as view_identifiers, "
            "Identifiers as ViewIdentifiers, PropertyColumn, QueryTable, View, viewed_schema"
        ),
        "parser": "parse as parse_cypher",
        "session": "Cypher",
        "syntax": "CypherStatement, Hops, MatchClause, Projection, ProjectionItem",
        "tokens": "CypherToken, LONGEST as LONGEST_STATEMENT, tokenize as tokenize_cypher",
    },
)

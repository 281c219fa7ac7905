"""Read-only Cypher behind a guard: by the query algebra in worker processes, or by a database's server.

Every statement takes this path, and no other leads to an engine:

    session            `Cypher.query` takes the text and returns a `QueryTable`; the protocol of an engine
    tokens, parser, expressions, patterns  the text as a tree of allowed parts (`syntax`); everything else is refused,
                       with the form to use
    names              node types, edge types and properties by any name, and the names of a view (GraphScout's)
    functions, checks, kinds, projections  arguments and results of functions, comparisons, WITH and RETURN
    compiler           the walk through an expression, by the same rules of kinds for every engine

    algebra/           the engine over our own graphs: the tree compiled to the algebra of `orienteer.query`
    confined, worker   that engine in processes that may neither write nor run too long
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
        "names": (
            "Bounds as TableBounds, Catalog as PropertyCatalog, identifiers as view_identifiers, "
            "Identifiers as ViewIdentifiers, PropertyColumn, QueryTable, View, viewed_schema"
        ),
        "parser": "parse as parse_cypher",
        "session": "Cypher",
        "syntax": "CypherStatement, Hops, MatchClause, Projection, ProjectionItem",
        "tokens": "CypherToken, LONGEST as LONGEST_STATEMENT, tokenize as tokenize_cypher",
    },
)

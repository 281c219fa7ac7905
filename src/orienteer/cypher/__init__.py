"""Read-only Cypher behind a guard: over a derived copy in ladybug, in a process of its own, or by a database's server.

A statement takes this road, and no other leads to an engine:

    session            `Cypher.query` takes the text and returns a `Table`; here is the seam, `Engine`
    tokens, parser     the text as a tree of what is allowed; everything else is refused, with the form to use
    names              node types, edge types and properties by whatever name they are given, in a view too
    functions, calls, checks, comparisons  what a call, a calculation, a comparison takes, and the kind of what it gives
    type_tests         `n:Gene`, `type(r)`, `labels(n)` and conditions on them
    pattern_reader     the nodes and edges of a pattern with the types that they may have; `projections`: WITH, RETURN
    view               the names of GraphScout's graphs, for statements that ask for them; the tree carries the view

    ladybug.engine     the engine over a graph of one's own: it is given the tree, and brings what follows
    ladybug.database   the derived database, a piece of the generation
    ladybug.translation the tree as text for the engine, which is never given a word that was not understood
    ladybug.results    what comes back, as nodes and edges of the graph
    ladybug.worker, .process  the engine in a process that may neither write nor stay too long

    opencypher         the tree as text for the server of a database in place, whose engine is
                       `orienteer.connect.in_place.statements`

Another engine is another class with `Engine`'s members: `Cypher(graph, MyEngine)`.
"""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
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
        "syntax": "CypherStatement, Hops, Literal_, MatchClause, MOST_DEEP, Projection, ProjectionItem, Variable",
        "tokens": "CypherToken, LONGEST as LONGEST_STATEMENT, tokenize as tokenize_cypher",
    },
)

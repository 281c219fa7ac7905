"""Read-only Cypher over a graph: a derived copy in ladybug, behind a guard and in a process of its own.

A statement takes this road, and no other leads to the engine:

    session            `Cypher.query` takes the text and returns a `Table`; here is the seam, `Engine`
    tokens, parser     the text as a tree of what is allowed; everything else is refused, with the form to use
    ladybug.engine     the engine that there is: it is given the tree, and brings what follows
    ladybug.database   the derived database, a piece of the generation
    names              node types, edge types and properties by whatever name they are given, in a view too
    ladybug.translation the tree as text for the engine, which is never given a word that was not understood
    ladybug.results    what comes back, as nodes and edges of the graph
    view               the names of GraphScout's graphs, for statements that ask for them; the tree carries the view
    ladybug.worker, .process  the engine in a process that may neither write nor stay too long

Another engine is another class with `Engine`'s three members: `Cypher(graph, MyEngine)`.
"""

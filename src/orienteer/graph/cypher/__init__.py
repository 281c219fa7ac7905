"""Read-only Cypher over a graph: a derived copy in ladybug, behind a guard and in a process of its own.

A statement takes this road, and no other leads to the engine:

    tokens, parser     the text as a tree of what is allowed; everything else is refused, with the form to use
    names              node types, edge types and properties by whatever name they are given
    rewriting          the tree as text for the engine, which is never given a word that was not understood
    copying            the derived database, a piece of the generation
    worker, process    the engine, in a process that may neither write nor stay too long
    session            all of these together: `Cypher.query` returns a `Table`

`rewriting` and the pair of `copying` and `worker` are what another engine would bring of its own.
"""

"""One query algebra over the arrays of a graph: sets of nodes, tables of rows, and a proof of every answer.

    plan         what a query is: frozen records of sets and tables; `expressions`, their conditions and values
    budget       what it may spend; every part pays before it works
    store        what it reads of a graph; `columns`, what it holds
    sets         sets of nodes, without rows: reading lines, plans of steps, patterns of triplets
    proof        why a node is in a set: a tree of edges, values, counts and absences

docs/reference/query.md defines every operation.
"""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "budget": "Budget as QueryBudget",
        "expressions": "Literal_, MOST_DEEP, Variable",
        "plan": "Among, Both, Compared, Counted, Covering, Either, Every, Has, Hop, Leads, Without",
        "proof": "witness as proof_of",
        "sets": "Sets as QuerySets",
        "store": "Store as QueryStore",
    },
)

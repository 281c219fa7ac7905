"""The reserved types of nodes and edges: those of a chunk graph, and of its extracted facts.

    document  a file, or a row of a collection that is cut into several chunks; its text is the list of its headings
    chunk     a piece of prose; also a row of a collection that is short enough to be one chunk
    table     a segment of a table: its title is the name; its text is caption, header and rows, a line each
    fact      a statement, as a sentence; community  a group of entities, with what is written of it

A node's content depends on its own document alone, so that a change in one file leaves all other nodes unchanged.
Facts that depend on the whole corpus, such as the rarity of a shared name, are stored on edges.
"""

from __future__ import annotations

DOCUMENT, CHUNK, TABLE = READ = "document", "chunk", "table"
"""The node types that are read from files; all other nodes of a knowledge base are made from these."""
FACT, COMMUNITY = "fact", "community"
PASSAGES = frozenset({CHUNK, TABLE})
RESERVED = frozenset({*READ, FACT, COMMUNITY})
"""The reserved node types; every other type is of entities."""

PART_OF = "part_of"
"""Chunk or table to its document."""
NEXT = "next"
"""Chunk or table to the one after it in its document."""
LINKS_TO = "links_to"
"""Chunk or table to the target of one of its hyperlinks."""
MENTIONS = "mentions"
"""Chunk or table to a chunk whose title it mentions. Weight: idf of the title / chunks so titled."""
SHARES_NAMES = "shares_names"
"""Symmetric: two chunks with rare names in common. Weight: sum of the idf of those names."""
SIMILAR = "similar"
"""Symmetric: two chunks whose metadata are alike (SAGE, section 2.1.B). Weight: the highest of the similarities."""

TITLED, STATES, MEMBER = "titled", "states", "member"
"""Extracted: chunk to what its title names; chunk to a fact; fact to an entity that it is about."""
RELATED_TO, CO_OCCURS, SYNONYM = "related_to", "co_occurs", "synonym"
"""Extracted: two entities of a statement without a word for the edge, of the same passages, with similar names."""

RESERVED_EDGES = frozenset(
    {PART_OF, NEXT, LINKS_TO, MENTIONS, SHARES_NAMES, SIMILAR, TITLED, STATES, MEMBER, CO_OCCURS, SYNONYM}
    | {"in_community"}
)
"""The reserved edge types, without `related_to`, which a predicate may also be."""

SYMMETRIC = frozenset({SHARES_NAMES, SIMILAR})
WEIGHTED = (MENTIONS, SHARES_NAMES, SIMILAR)
"""Edge types whose weights say how strong an edge is; each type has a scale of its own."""

CONTENTS = "contents"
"""The property of a chunk that merely leads to others, as a table of contents does."""
INNER = "inner_headings"
"""The property of a chunk of short sections: the lines of its text that are headings, from 0, each with its depth."""

SEPARATOR = " > "
"""Between the headings of a path."""
CELLS = " | "
"""Between the cells of a row in the text of a table."""

"""What a person sees of a hit: its node, the words that it matched, the part of its text that shows it."""

from __future__ import annotations

from orienteer.graph.store import Graph
from orienteer.records import Ranked
from orienteer.tools.render import Match, Words

SNIPPET = 300  # characters at the most
_NAMED = 8  # words that a reason names


def ranked(graph: Graph, row: int, score: float, *, words: Words, why: str = "") -> Ranked:
    """Return a node as a place of a ranking, with the part of its text that shows these words best."""
    return Ranked(
        id=graph.ids[row],
        type=graph.type_at(row),
        name=graph.names[row],
        score=score,
        why=why,
        text=words.snippet(row, width=SNIPPET),
    )


def why_words(words: Words, match: Match) -> str:
    """Say which words of the query a node has, and which it lacks."""
    found = [word for word in words.postings if word not in match.missing]
    lacks = f"lacks {', '.join(match.missing[:_NAMED])}" if match.missing else ""
    has = f"has {', '.join(found[:_NAMED])}" if found else ""
    return "; ".join(filter(None, (has, lacks)))

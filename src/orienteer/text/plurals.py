"""English plurals, by rule and by a table of those that no rule knows."""

from __future__ import annotations

_PAIRS = """
    person:people child:children man:men woman:women mouse:mice foot:feet tooth:teeth goose:geese datum:data
    criterion:criteria phenomenon:phenomena analysis:analyses hypothesis:hypotheses basis:bases axis:axes
    matrix:matrices index:indices taxon:taxa genus:genera medium:media leaf:leaves life:lives shelf:shelves
    series:series species:species software:software equipment:equipment people:people data:data
"""
_IRREGULAR = dict(pair.split(":") for pair in _PAIRS.split())


def plural(noun: str) -> str:
    """Return the plural of a noun phrase: of its last word, or of each where slashes part it."""
    if "/" in noun:
        return "/".join(map(plural, noun.split("/")))
    head, space, last = noun.rpartition(" ")
    return head + space + _plural(last)


def _plural(word: str) -> str:
    if word.lower() in _IRREGULAR:
        return _IRREGULAR[word.lower()]
    if word.isupper() and len(word) > 1:
        return f"{word}s"
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"

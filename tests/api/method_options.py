"""Writes src/orienteer/methods/method_options.py off the configurations of all methods.

python tests/api/method_options.py
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from orienteer.methods import METHODS
from orienteer.options import options_of

TARGET = Path(__file__).parents[2] / "src" / "orienteer" / "methods" / "method_options.py"
HEAD = '''"""The options of every method by name, for type checkers: `Retriever(graph, "ark", agents=2)`.

Written by `python tests/api/method_options.py` off the methods' configurations; a test compares. Which method has which
option is checked when a `Retriever` is made, and `orienteer methods` tells what each means.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict


class MethodOptions(TypedDict, total=False):
    """What methods let choose. An option that several methods have may take other values in each."""

'''


def kinds_of(hint: Any) -> list[str]:  # Any: a type as it is annotated
    """Return the parts of a type, as they are written down."""
    if get_origin(hint) is Literal:
        return [f"Literal[{', '.join(map(repr, get_args(hint)))}]".replace("'", '"')]
    if get_origin(hint) is tuple:
        return [f"Sequence[{get_args(hint)[0].__name__}]"]
    if isinstance(hint, type):
        return [hint.__name__]
    return ["None" if kind is type(None) else text for kind in get_args(hint) for text in kinds_of(kind)]


def written() -> str:
    """Return the text of the module."""
    kinds: dict[str, dict[str, None]] = defaultdict(dict)
    for card in METHODS.values():
        if (config := card.config_class()) is not None:
            hints = get_type_hints(config)
            for option in options_of(config):
                kinds[option.name].update(dict.fromkeys(kinds_of(hints[option.name])))
    lines = [
        f"    {name}: {' | '.join(sorted(kinds[name], key=lambda kind: (kind == 'None', kind)))}"
        for name in sorted(kinds)
    ]
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(written(), encoding="utf-8")

"""Grammars in GBNF, as llama.cpp has them: read, walked at random, and matched. For tests alone."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import TypeAlias

Node: TypeAlias = tuple[object, ...]
_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[A-Za-z][A-Za-z0-9-]*|\{\d+,\d+\}|[()|?])')


class Gbnf:
    """The rules of one grammar. Understood: literals, rules, groups, `|`, `?` and `{m,n}`."""

    def __init__(self, text: str) -> None:
        self.rules = dict(self._read(*line.split(" ::= ", 1)) for line in text.splitlines())
        missing = {name for rule in self.rules.values() for name in _named(rule)} - self.rules.keys()
        assert not missing, f"rules that are not there: {missing}"

    def _read(self, name: str, body: str) -> tuple[str, Node]:
        tokens, place = [], 0
        while place < len(body.rstrip()):
            match = _TOKEN.match(body, place)
            assert match, f"{name}: no token at {body[place : place + 20]!r}"
            tokens.append(match[1])
            place = match.end()
        rule, end = _either(tokens, 0)
        assert end == len(tokens), f"{name}: {tokens[end:]}"
        return name, rule

    def walk(self, chance: random.Random, name: str = "root") -> str:
        """Return a text of the grammar."""
        return self._walk(self.rules[name], chance)

    def _walk(self, node: Node, chance: random.Random) -> str:
        match node:
            case ("text", str(text)):
                return text
            case ("rule", str(name)):
                return self._walk(self.rules[name], chance)
            case ("either", *options):
                return self._walk(chance.choice(options), chance)  # type: ignore[arg-type]  # nodes
            case ("then", *parts):
                return "".join(self._walk(part, chance) for part in parts)  # type: ignore[arg-type]  # nodes
            case ("times", tuple(part), int(least), int(most)):
                return "".join(self._walk(part, chance) for _ in range(chance.randint(least, most)))
        raise AssertionError(node)

    def matches(self, text: str, name: str = "root") -> bool:
        """Return whether a text is of the grammar."""
        self._known: dict[tuple[str, int], frozenset[int]] = {}
        self._text = text
        return len(text) in self._ends(("rule", name), 0)

    def _ends(self, node: Node, at: int) -> frozenset[int]:
        """Return where a part may end that begins at a place."""
        match node:
            case ("text", str(text)):
                return frozenset([at + len(text)] if self._text.startswith(text, at) else [])
            case ("rule", str(name)):
                if (name, at) not in self._known:
                    self._known[name, at] = self._ends(self.rules[name], at)
                return self._known[name, at]
            case ("either", *options):
                return frozenset().union(*(self._ends(one, at) for one in options))  # type: ignore[arg-type]  # nodes
            case ("then", *parts):
                ends = frozenset([at])
                for part in parts:
                    ends = frozenset().union(*(self._ends(part, end) for end in ends))  # type: ignore[arg-type]  # nodes
                return ends
            case ("times", tuple(part), int(least), int(most)):
                reached, ends = frozenset([at]), frozenset([at] if not least else [])
                for number in range(1, most + 1):
                    reached = frozenset().union(*(self._ends(part, end) for end in reached))
                    ends |= reached if number >= least else frozenset()
                return ends
        raise AssertionError(node)


def _named(node: object) -> Iterator[str]:
    if isinstance(node, tuple):
        if node[0] == "rule":
            yield node[1]
        for part in node[1:]:
            yield from _named(part)


def _either(tokens: list[str], at: int) -> tuple[Node, int]:
    options: list[Node] = []
    parts: list[Node] = []
    while at < len(tokens) and tokens[at] != ")":
        token = tokens[at]
        if token == "|":
            options.append(("then", *parts))
            parts = []
        elif token == "(":
            part, at = _either(tokens, at + 1)
            parts.append(part)
        elif token == "?":
            parts.append(("times", parts.pop(), 0, 1))
        elif token.startswith("{"):
            least, most = map(int, token[1:-1].split(","))
            parts.append(("times", parts.pop(), least, most))
        else:
            parts.append(("text", json.loads(token)) if token.startswith('"') else ("rule", token))
        at += 1
    return ("either", *options, ("then", *parts)), at

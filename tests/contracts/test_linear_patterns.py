"""No pattern of the package takes time that grows with the square of a text: every one, over texts of many shapes.

A pattern such as `\\w+-` searched in `aaaa...` begins at every letter and runs to the end each time: 8,000 letters take
seconds. A lookbehind before it (`(?<!\\w)\\w++-`) begins once.
"""

import importlib
import pkgutil
import re
import time
from itertools import islice
from pathlib import Path

import pytest

import orienteer

PIECES = [
    "a",
    "A",
    "1",
    "0",
    "_",
    "-",
    "=",
    "*",
    "#",
    ".",
    ",",
    ":",
    ";",
    "!",
    "?",
    "+",
    "~",
    "|",
    "\\",
    "/",
    "@",
    "&",
    "%",
    "'",
    '"',
    "`",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "\x00",
    "あ",
    "😀",
    "́",
    "\xad",
    "…",
    "“",
    "“a",
    "'a",
    "aяあ",
    "á",
    "a–",
]
PIECES += [
    " ",
    "\n",
    "\t",
    "\r\n",
    "\n ",
    " \n",
    "a\n",
    "a ",
    "A ",
    "1 ",
    ". ",
    "| a ",
    "and ",
    "and not (",
    "The Cat ",
]
PIECES += [
    "A of ",
    "$1 ",
    "A-1 ",
    'id="a" ',
    "\n<tool_response>",
    "a. ",
    "- ",
    "* ",
    "1. ",
    ", ",
    " ,",
    "= ",
    "> ",
    "a( ",
]
PIECES += [
    "a.",
    "a-",
    "a_",
    "a,",
    "a/",
    "a:",
    "a@",
    "a(",
    "(a",
    "[a](",
    "A1",
    "1,",
    "1.",
    "1-",
    "1e",
    "![",
    "**a",
    "<a",
    "</",
    "<!--",
    "/*",
    "//",
    "```",
    "```\n",
    '{"',
    "[[",
    "\\a",
    "&a;",
    "answer:",
]
PIECES += [
    "<think>",
    "<search>",
    "<tool_call>",
    "http://",
    "\\answer{",
    "<answer>",
    "''",
    '""',
    "a'",
    "[a",
    "`a",
    "(a)",
]
ENDS = (("", ""), ("a ", ""), ("", "\x01"))
SMALL, LARGE = 1_000, 4_000
MOST = 7
"""Times as long as a text a quarter as long may take: 4 where time grows with the length, 16 with its square."""
QUICK = 0.01
"""CPU seconds that a large text may take whatever a small one does. With squares it takes twice as much or more."""

# What no long text reaches, or no search.
BOUNDED = {
    "ingest.documents.cut.segments._NUMBER": "asked by match, which begins once",
    "graph.properties._CONDITION": "conditions of 500 characters are read",
    "methods.documents.heads._ADDRESSES": "headers of 1,000 characters are kept",
    "methods.documents.abstention._IDENTIFIER": "words of 200 characters are read",
}


def modules():
    for found in pkgutil.walk_packages(orienteer.__path__, "orienteer."):
        if found.name.endswith("__main__"):
            continue
        try:
            yield importlib.import_module(found.name)
        except orienteer.Error:  # an extra that is not installed: `adapters`
            assert found.name.startswith("orienteer.adapters.")


def kept(value):
    """Yield the patterns that a value of a module holds."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from kept(one)
    elif isinstance(value, tuple | list):
        for one in value:
            yield from kept(one)


def ways():
    """Yield the name of each pattern of the package, itself, and what its module asks of it; all where it does not."""
    seen = set()
    for module in modules():
        source = Path(module.__file__).read_text(encoding="utf-8")
        for name, value in vars(module).items():
            for pattern in set(kept(value)) - seen:
                seen.add(pattern)
                asked = set(
                    re.findall(rf"\b{name}(?:\[[^\]]*\])?\.(match|fullmatch|search|sub|split|find\w+)\b", source)
                )
                yield f"{module.__name__.removeprefix('orienteer.')}.{name}", pattern, asked or {"search", "fullmatch"}


def seconds(call, text):
    begin = time.process_time()
    call(text)
    return time.process_time() - begin


def caller(pattern, way):
    if way in ("match", "fullmatch"):
        return getattr(pattern, way)
    return lambda text: sum(1 for _ in pattern.finditer(text))


def slow_shapes(pattern, call):
    for piece in PIECES:
        for begin, end in ENDS:
            small, large = (begin + (piece * n)[:n] + end for n in (SMALL, LARGE))
            if isinstance(pattern.pattern, bytes):
                small, large = small.encode(), large.encode()
            if (most := seconds(call, small)) > 1 or seconds(call, large) > QUICK:
                ratio = (
                    min(seconds(call, large) for _ in range(3)) / min(most, seconds(call, small)) if most < 1 else 99
                )
                if ratio > MOST:
                    yield f"{piece!r} x{ratio:.0f}"


@pytest.mark.timing
def test_no_pattern_is_quadratic():
    slow = {}
    for name, pattern, asked in ways():
        if name in BOUNDED:
            continue
        for call in {way if way.endswith("match") else "finditer": caller(pattern, way) for way in asked}.values():
            if found := list(islice(slow_shapes(pattern, call), 5)):
                slow[name] = found
    assert slow == {}

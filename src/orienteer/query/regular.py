"""Regular expressions without backtracking: the time grows with the text, whatever the expression.

The expression becomes an automaton of characters and choices (Thompson 1968). A text is followed through sets of its
states, which are built when they are first reached.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from re import _constants as ops  # type: ignore[attr-defined]  # Python's parser of expressions, without its matcher
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from orienteer.errors import BadQuery

_MOST_STATES = 20_000
_MOST_SETS = 2_000  # sets of states that are kept
_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    ops.CATEGORY_DIGIT: str.isdecimal,
    ops.CATEGORY_NOT_DIGIT: lambda c: not c.isdecimal(),
    ops.CATEGORY_SPACE: str.isspace,
    ops.CATEGORY_NOT_SPACE: lambda c: not c.isspace(),
    ops.CATEGORY_WORD: lambda c: c.isalnum() or c == "_",
    ops.CATEGORY_NOT_WORD: lambda c: not c.isalnum() and c != "_",
}


class _State(NamedTuple):
    """A state: it reads a character that passes the test, or goes on without one if there is no test."""

    test: Callable[[str], bool] | None
    following: tuple[int, ...]
    where: str = ""
    """`start` or `end` if it goes on only there."""


class TextPattern:
    """A regular expression for whole texts."""

    def __init__(self, text: str) -> None:
        """Raises `BadQuery` for a text that is not a regular expression, or one of too many states."""
        self._states: list[_State] = [_State(None, ())]  # the first is the end
        try:
            tree = parser.parse(text)
        except (re.error, RecursionError, OverflowError) as error:
            raise BadQuery(f"{text!r} is not a regular expression: {error}") from error
        self._ignores_case = bool(tree.state.flags & re.IGNORECASE)
        self._dot_reads_all = bool(tree.state.flags & re.DOTALL)
        self._first = self._sequence(tree, 0)
        self._steps: dict[tuple[frozenset[int], str], frozenset[int]] = {}

    @staticmethod
    @lru_cache(maxsize=64)
    def of(text: str) -> TextPattern:
        """Return a regular expression, kept for the next call."""
        return TextPattern(text)

    def matches(self, text: str) -> bool:
        """Return whether the whole text matches."""
        states = self._reached([self._first], at_start=True, at_end=not text)
        for place, character in enumerate(text):
            if not states:
                return False
            at_end = place == len(text) - 1
            key = states, character
            if at_end or key not in self._steps:
                read = [
                    following
                    for state in states
                    if (test := self._states[state].test) is not None and test(character)
                    for following in self._states[state].following
                ]
                reached = self._reached(read, at_start=False, at_end=at_end)
                if at_end:
                    return 0 in reached
                if len(self._steps) >= _MOST_SETS:
                    self._steps.clear()
                self._steps[key] = reached
            states = self._steps[key]
        return 0 in states

    def _reached(self, states: Iterable[int], *, at_start: bool, at_end: bool) -> frozenset[int]:
        """Return the states that are reached from some states without another character."""
        reached, waiting = set[int](), list(states)
        while waiting:
            number = waiting.pop()
            state = self._states[number]
            is_here = {"": True, "start": at_start, "end": at_end}[state.where]
            if number not in reached and is_here:
                reached.add(number)
                if state.test is None:
                    waiting += state.following
        return frozenset(reached)

    # The automaton, from its end to its start.

    def _state(self, test: Callable[[str], bool] | None, *following: int, where: str = "") -> int:
        if len(self._states) >= _MOST_STATES:
            raise BadQuery("a regular expression is too large: use fewer and shorter repeats")
        self._states.append(_State(test, following, where))
        return len(self._states) - 1

    def _sequence(self, parts: Any, end: int) -> int:  # Any: Python's trees of expressions, here and below
        for operation, argument in reversed(list(parts)):
            end = self._part(operation, argument, end)
        return end

    def _part(self, operation: Any, argument: Any, end: int) -> int:
        """Add the states of one part before the state `end`; return its first."""
        if operation is ops.BRANCH:
            return self._state(None, *(self._sequence(option, end) for option in argument[1]))
        if operation is ops.SUBPATTERN:
            return self._sequence(argument[3], end)
        if operation in (ops.MAX_REPEAT, ops.MIN_REPEAT):
            least, most, part = argument
            return self._repeated(part, int(least), None if most is ops.MAXREPEAT else int(most), end)
        if operation is ops.AT and argument in (ops.AT_BEGINNING, ops.AT_BEGINNING_STRING):
            return self._state(None, end, where="start")
        if operation is ops.AT and argument in (ops.AT_END, ops.AT_END_STRING):
            return self._state(None, end, where="end")
        return self._state(self._test(operation, argument), end)

    def _repeated(self, part: Any, least: int, most: int | None, end: int) -> int:
        if most is None:
            again = self._state(None)
            self._states[again] = _State(None, (self._sequence(part, again), end))
            end = again
        else:
            last = end
            for _ in range(most - least):
                end = self._state(None, self._sequence(part, end), last)
        for _ in range(least):
            end = self._sequence(part, end)
        return end

    def _test(self, operation: Any, argument: Any) -> Callable[[str], bool]:
        """Return the test of one character. Raises `BadQuery` for a form that reads none."""
        if operation is ops.LITERAL:
            return self._in_any_case(chr(argument).__eq__)
        if operation is ops.NOT_LITERAL:
            same = self._in_any_case(chr(argument).__eq__)
            return lambda c: not same(c)
        if operation is ops.ANY:
            return (lambda c: True) if self._dot_reads_all else "\n".__ne__
        if operation is ops.IN:
            is_negated = argument[0][0] is ops.NEGATE
            tests = [self._test(*item) for item in argument[is_negated:]]
            return lambda c: any(test(c) for test in tests) != is_negated
        if operation is ops.RANGE:
            low, high = argument
            return self._in_any_case(lambda c: low <= ord(c) <= high)
        if operation is ops.CATEGORY:
            return _CATEGORIES[argument]
        raise BadQuery(f"a regular expression has a form that is not supported ({operation}): use several conditions")

    def _in_any_case(self, test: Callable[[str], bool]) -> Callable[[str], bool]:
        if not self._ignores_case:
            return test
        return lambda c: test(c) or any(map(test, (*c.lower(), *c.upper())))

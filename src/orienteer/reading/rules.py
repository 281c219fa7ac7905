"""The engine of the grammar: the words of one question, and rules as lines of parts that are read from a place on.

    Rule("of the beers of X, how many are Y", "'among' nodes 'how many of them' part=said|same => count part")

A part reads on from a place of the question: it yields where it ends, what it means and how far-fetched that is. A rule
tries its parts one behind the other in every way that they can be read; its cost is the sum of theirs.

    'key'           the first phrase of a key of the vocabulary that stands here
    'key'*          every phrase of it that stands here, the shortest first
    <key>           one word of a key
    <key>*          none, some or all of the words of a key that stand here
    ?<key>, !<key>  nothing, where a word of a key stands here; where none does
    ^<key>          nothing, behind a word of a key
    -<key> and -    all words of a key that stand here are left out; all determiners
    nodes           a part, or other rules, by name
    part=nodes      the same, under another name
    said(part)      a part that looks at what another has read, which is else the one that its parameter names
    a|b             either; `0` reads nothing
    [a]             the first way to read it, or nothing
    => count part   what is asked of a part; `=> part` is what it means itself, as the last does where nothing is said
    ~loose          how far-fetched the rule is, by a name of COSTS
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from inspect import signature
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar, cast

from orienteer.reading.lexicon import Lexicon
from orienteer.reading.query import ExactQuery, Form, NodeSet
from orienteer.reading.units import Units
from orienteer.reading.vocabulary import ENGLISH, WORDS, QuestionWords

# ============================================================================================================== context
# The words of one question with what they may be, as the rules of the grammar look at them.

if TYPE_CHECKING:
    from orienteer.reading.nesting import Nesting
    from orienteer.reading.relations import SchemaRelations

Value = TypeVar("Value")
_MOST = 6  # parses with one end that are followed
_STEPS = 20_000  # rules that are tried for one question: a bound on its time


class Parse(NamedTuple, Generic[Value]):
    """A phrase that was read: where it ends, what it means, and how far-fetched that is."""

    last: int
    value: Value
    cost: float


Phrases: TypeAlias = Iterator[Parse[NodeSet]]
"""The ways to read words as a set of nodes."""


@dataclass(slots=True)
class Context:
    """One question, and the rules that call one another."""

    reading: QuestionWords
    units: Units
    lexicon: Lexicon
    words: list[str] = field(default_factory=list)
    relations: SchemaRelations = field(init=False)
    nesting: Nesting = field(init=False)
    nodes: Callable[[int], list[Parse[NodeSet]]] = field(init=False)
    """The rule of noun phrases; clauses hold noun phrases and these hold clauses."""
    described: Callable[[Parse[NodeSet]], list[Parse[NodeSet]]] = field(init=False)
    """The rule of all that is said of a set behind its noun."""
    modifiers: Callable[[int, NodeSet], list[Parse[NodeSet]]] = field(init=False)
    """The rule of one thing that is said of a set."""
    queries: Callable[[int], Iterator[Parse[ExactQuery]]] = field(init=False)
    """The rule of whole questions, which may stand behind a sentence or a phrase."""
    known: dict[tuple[object, ...], list[Parse[Any]]] = field(default_factory=dict)
    """What was read once, by its rule and place."""
    fired: list[tuple[str, object]] = field(default_factory=list)
    """Examples of the rules that read something, each with its meaning; those of the final query's parts say why."""
    is_too_deep: bool = False
    """A noun phrase had more noun phrases within it than are read."""
    referents: list[NodeSet] = field(default_factory=list)
    """What an earlier sentence of the question spoke of: pronouns stand for it."""
    antecedent: NodeSet | None = None
    """The named nodes that were spoken of last within the question: `it`, `them` and `there` stand for them."""
    bare_dates: dict[object, int] = field(default_factory=dict)
    """The conditions that were read of a date alone, with its place: `before 1980`, where nothing else says of what."""
    complaints: dict[str, int] = field(default_factory=dict)
    """Why something could not be read, with the place in the question where that was."""
    depth: int = 0
    """How many noun phrases the one that is read stands in, itself included."""
    steps: int = 0
    reached: int = 0
    """Up to which word the question was understood, where it was not to its end."""

    def __post_init__(self) -> None:
        self.words = [word.text for word in self.reading.words]

    def forget_rules(self) -> None:
        """Let the rules go, which refer to this: only the garbage collector would free what goes round in a circle."""
        del self.nodes, self.described, self.modifiers, self.queries

    def once(self, key: tuple[object, ...], read: Callable[[], list[Parse[Value]]]) -> list[Parse[Value]]:
        """Return what a rule reads at a place, read the first time it is asked for."""
        if key not in self.known:
            self.known[key] = read()
        return self.known[key]

    @property
    def end(self) -> int:
        """Return the number of words."""
        return len(self.words)

    def at(self, place: int) -> str:
        """Return the word of a place; empty behind the last."""
        return self.words[place] if 0 <= place < len(self.words) else ""

    def starts(self, place: int, *phrases: str) -> int | None:
        """Return where the first of these phrases ends that begins here; None where none does."""
        return next(self.ends(place, phrases), None)

    def ends(self, place: int, phrases: tuple[str, ...]) -> Iterator[int]:
        """Yield where each of these phrases ends that begins here, in their order."""
        for words in _by_first_word(phrases).get(self.at(place), ()):
            if self.words[place : place + len(words)] == words:
                yield place + len(words)

    def ends_of(self, place: int, key: str) -> Iterator[int]:
        """Yield where each phrase of a key ends that begins here, in their order."""
        for words in ENGLISH.by_first[key].get(self.at(place), ()):
            if self.words[place : place + len(words)] == words:
                yield place + len(words)

    def end_of(self, place: int, key: str) -> int | None:
        """Return where the first phrase of a key ends that begins here; None where none does."""
        return next(self.ends_of(place, key), None)

    def skip(self, place: int, words: Iterable[str] = WORDS["determiners"]) -> int:
        """Return the first place from here on that is none of these words."""
        while place < len(self.words) and self.words[place] in words:
            place += 1
        return place

    def skips(self, place: int, words: Iterable[str] = WORDS["determiners"]) -> range:
        """Return the places that may follow: with none of these words left out, up to all of them."""
        return range(place, self.skip(place, words) + 1)

    def is_behind_comma(self, place: int) -> bool:
        """Return whether a comma stands before the word of a place."""
        return place < self.end and self.reading.words[place].after_comma

    def is_over(self, place: int) -> bool:
        """Return whether nothing that says anything follows."""
        rest = tuple(self.words[place:])
        if any(unit.cost == 0 for at in range(place, self.end) for unit in self.units.properties.get(at, ())):
            return False  # "listed" says something where a property is called so
        return _is_empty(rest) or (rest[0] in WORDS["here first"] and WORDS["here"].issuperset(rest))

    def complain(self, place: int, why: str) -> None:
        """Note why a phrase could not be read."""
        self.complaints[why] = max(place, self.complaints.get(why, 0))

    def is_exhausted(self) -> bool:
        """Count a rule; tell whether too many were tried."""
        self.steps += 1
        return self.steps > _STEPS

    def possessive(self, place: int) -> int | None:
        """Return where a possessive ending ends that follows the word before this place; None where there is none."""
        if not 0 < place <= len(self.words):
            return None
        before = self.reading.words[place - 1]
        if self.reading.text[before.end : before.end + 1] not in ("'", "’"):
            return None
        if self.at(place) == "s":
            return place + 1
        return place if before.text.endswith("s") else None


@lru_cache(maxsize=1024)  # the lists of phrases that rules look for are a few hundred
def _by_first_word(phrases: tuple[str, ...]) -> dict[str, list[list[str]]]:
    """Return the words of phrases by the first of them, in their order."""
    by_first: dict[str, list[list[str]]] = {}
    for words in map(str.split, phrases):
        if words:
            by_first.setdefault(words[0], []).append(words)
    return by_first


@lru_cache(maxsize=1024)
def _is_empty(words: tuple[str, ...]) -> bool:
    """Return whether words say nothing: `please`, or `in total, please`."""
    if len(words) > 1 and words[-1] == "first" and (words[-2] in ENGLISH.superlatives or words[-2] in ENGLISH.most):
        return _is_empty(words[:-2])  # "the 5 fastest ships, fastest first"
    return WORDS["empty"].issuperset(words) or any(_is_empty(before) for before in _before_endings(words))


def _before_endings(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield what stands before each of the empty endings that words have."""
    if words[-1] in WORDS["empty"]:
        yield words[:-1]
    for ending in ENGLISH.endings:
        if words[-len(ending) :] == ending:
            yield words[: -len(ending)]


def best(parses: Iterable[Parse[Value]], most: int = _MOST) -> list[Parse[Value]]:
    """Return the likeliest parses, each meaning once and at most so many with one end, likeliest first."""
    likeliest: dict[tuple[int, Value], Parse[Value]] = {}
    for parse in parses:
        key = (parse.last, parse.value)
        if key not in likeliest or parse.cost < likeliest[key].cost:
            likeliest[key] = parse
    by_end: dict[int, int] = {}
    ordered = []
    for parse in sorted(likeliest.values(), key=lambda parse: parse.cost):
        by_end[parse.last] = by_end.get(parse.last, 0) + 1
        if by_end[parse.last] <= most:
            ordered.append(parse)
    return ordered


# ================================================================================================================ rules
# A rule is a line of parts, and says what they mean together.

COSTS = {"plain": 0.0, "certain": -0.3, "sure": -0.2, "likely": -0.1, "handy": -0.05, "loose": 0.05, "bare": 0.1}
"""How far-fetched rules are. Less is likelier; words that are read at all cost some .05 to .3."""

Found: TypeAlias = Mapping[str, Parse[Any]]
"""What the parts of a rule have read, by their names; a part within a rule sees those of the rules around it."""
Part: TypeAlias = Callable[[Context, int, Found], Iterable[Parse[Any]]]
_Function = TypeVar("_Function", bound=Callable[..., Any])
_PARTS: dict[str, Callable[..., Any]] = {}
_TOKEN = re.compile(
    r" ?(?:(?P<name>\w+)=)?(?P<maybe>\[)?(?P<what>(?:'[^']+'\*?|[-?!^]?<[^>]+>\*?|-|\w+(?:\([\w, ]+\))?|\|)+)\]?"
)


def part(function: _Function, name: str = "") -> _Function:
    """Let rules name a function: it takes the `context`, the `place` and values of parts by their names.

    It returns the parses that begin at the place; or one, or the place where it ends; or whether it may stand here.
    """
    name = name or function.__name__.strip("_")
    assert name not in _PARTS, f"two parts are called {name!r}"
    _PARTS[name] = function
    return function


def part_of_words(name: str, meanings: Mapping[str, object]) -> None:
    """Let rules name what a word means."""

    def meant(context: Context, place: int) -> Parse[object] | None:
        word = context.at(place)
        return Parse(place + 1, meanings[word], 0.0) if word in meanings else None

    part(meant, name)


class Rule:
    """A line of the grammar."""

    def __init__(self, example: str, line: str, gives: Callable[..., Any] | None = None) -> None:
        """Read a line; a rule of other rules has no example.

        `gives` takes values of its parts by their names, and None says that the rule does not hold.
        """
        self.example, self.line = example, line
        line, _, cost = line.partition("~")
        line, _, result = line.partition("=>")
        self._cost = COSTS[cost.strip() or "plain"]
        self._parts = tuple(_parts_of(line))
        token = _TOKEN.match(line.strip())
        assert token is not None
        self.first = f"{token['what']}{token['maybe']}"
        """What it begins with, which rules of one kind that begin alike read once."""
        first = re.match(r"(?:\w+=)?(?:'([^']+)'\*?|[?]?<([^>]+)>)(?=\s|$)", line.strip())
        self._phrase: str | None = first[1] if first is not None else None
        self._word: str | None = first[2] if first is not None else None
        self._gives = _taking(gives or _asking(*result.split() or [self._parts[-1][0]]))

    def begun(self, context: Context, place: int, found: Found) -> list[Parse[Any]]:
        """Return what the first part means here."""
        return list(self._parts[0][1](context, place, found))

    def goes_on(self, context: Context, begun: list[Parse[Any]], found: Found) -> Iterator[Parse[Any]]:
        """Yield what the words mean by this rule, behind each meaning of its first part."""
        own, name = dict(found), self._parts[0][0]
        for parse in begun:
            own[name] = parse
            yield from self._behind(1, context, parse.last, own, self._cost + parse.cost)

    def may_begin(self, context: Context, place: int) -> bool:
        """Return whether the first word is one that the rule begins with: most rules are left out by it."""
        if self._phrase is not None:
            return context.at(place) in ENGLISH.by_first[self._phrase]
        return self._word is None or context.at(place) in WORDS[self._word]

    def _behind(
        self, number: int, context: Context, place: int, found: dict[str, Parse[Any]], cost: float
    ) -> Iterator[Parse[Any]]:
        if number == len(self._parts):
            value = self._gives(context, place, found)
            if value is not None:
                if self.example:
                    context.fired.append((self.example, value))
                yield Parse(place, value, cost)
            return
        name, read = self._parts[number]
        for parse in read(context, place, found):
            found[name] = parse
            yield from self._behind(number + 1, context, parse.last, found, cost + parse.cost)


class Rules(tuple[Rule, ...]):
    """Rules of one kind. Of two readings at one cost the first stands."""

    def __call__(self, context: Context, place: int, found: Found) -> Iterator[Parse[Any]]:
        """Yield what the words from a place on mean by any of them."""
        firsts: dict[str, list[Parse[Any]]] = {}
        for rule in self:
            if rule.may_begin(context, place):
                if rule.first not in firsts:
                    firsts[rule.first] = rule.begun(context, place, found)
                if firsts[rule.first]:
                    yield from rule.goes_on(context, firsts[rule.first], found)

    def of(self, context: Context, place: int, nodes: NodeSet) -> Phrases:
        """Yield the nodes of a set of which any of them says something here; parts know the set as `nodes`."""
        return self(context, place, {"nodes": Parse(place, nodes, 0.0)})


ALL: dict[str, Rules] = {}
"""All rules by the name of their kind."""


def rules(name: str, *lines: Rule | Rules) -> Rules:
    """Return rules, which others may name as a part."""
    own = Rules(rule for line in lines for rule in (line if isinstance(line, Rules) else (line,)))
    _PARTS[name], ALL[name] = own.__call__, own
    return own


def unknown_words(line: str, phrases: Collection[str], words: Collection[str]) -> list[str]:
    """Return what a line names that is no part, no rule, and no key of the vocabulary."""
    texts = [
        text
        for token in _TOKEN.finditer(" ".join(re.split("=>|~", line)[0].split()))
        for text in token["what"].split("|")
    ]
    unknown = []
    for text in texts:
        key, name = text.strip("-?!^<>'*"), text.partition("(")[0]
        known = phrases if text.startswith("'") else words
        if name.isidentifier() and name not in _PARTS:
            unknown.append(name)
        elif not name.isidentifier() and key not in ("", "0") and key not in known:
            unknown.append(key)
    return unknown


def _asking(form: str, of: str = "") -> Callable[..., Any]:
    """Return what a line gives: a part's own meaning, or a question in some form about the nodes of one."""
    if not of:
        return lambda found: found[form].value
    return lambda found: ExactQuery(cast(Form, form), found[of].value)


def _parts_of(line: str) -> Iterator[tuple[str, Part]]:
    end, line = 0, " ".join(line.split())
    for token in _TOKEN.finditer(line):
        assert token.start() == end, f"a rule is not understood from {line[end:]!r} on"
        end = token.end()
        what = token["what"]
        read = _any([_single(text) for text in what.split("|")])
        yield token["name"] or what.partition("(")[0], _maybe(read) if token["maybe"] else read
    assert end == len(line), f"a rule is not understood from {line[end:]!r} on"


def _single(text: str) -> Part:
    """Return the part that a piece of a line names."""
    name, _, given = text.partition("(")
    if not name.isidentifier():
        return _of_words(text, text.strip("-?!^<>'*"))
    called: Callable[[Context, int, Found], Any] | None = None  # rules name one another: found when it is first used

    def read(context: Context, place: int, found: Found) -> Iterable[Parse[Any]]:
        nonlocal called
        if called is None:
            called = _taking(_PARTS[name], given.rstrip(")").split(", ") if given else ())
        value = called(context, place, found)
        if value is None or value is False:
            return ()
        if value is True:
            return (Parse(place, None, 0.0),)
        if isinstance(value, int):
            return (Parse(value, None, 0.0),)
        return (value,) if isinstance(value, Parse) else cast(Iterable[Parse[Any]], value)

    return read


def _of_words(text: str, key: str) -> Part:
    """Return the part that reads words of a key of the vocabulary, or nothing."""

    def lasts(context: Context, place: int) -> Iterable[int]:
        match text[0]:
            case "0":
                return (place,)
            case "-":
                return (context.skip(place, WORDS[key]) if key else context.skip(place),)
            case "<" if text.endswith("*"):
                return context.skips(place, WORDS[key])
            case "<":
                return (place + 1,) if context.at(place) in WORDS[key] else ()
            case "?" | "!" | "^" as sign:
                stands = context.at(place - (sign == "^")) in WORDS[key]
                return (place,) if stands != (sign == "!") else ()
        ends = context.ends_of(place, key)
        return sorted(set(ends)) if text.endswith("*") else islice(ends, 1)

    return lambda context, place, found: [Parse(last, None, 0.0) for last in lasts(context, place)]


def _taking(function: Callable[..., Any], given: Iterable[str] = ()) -> Callable[[Context, int, Found], Any]:
    """Return a function called with what its parameters name: the question, the place, or values of parts."""
    names, own = [], list(given)
    for name in signature(function).parameters:
        name = "context" if name == "self" else name
        names.append(name if name in ("context", "place", "found") or not own else own.pop(0))

    if names == ["context", "place"]:
        return lambda context, place, found: function(context, place)
    if names == ["context", "place", "nodes"]:  # what is said of nodes is tried for every word
        return lambda context, place, found: function(context, place, found["nodes"].value)

    def call(context: Context, place: int, found: Found) -> Any:  # Any: the values of a grammar
        state = {"context": context, "place": place, "found": found}
        return function(*[state[name] if name in state else found[name].value for name in names])

    return call


def _any(parts: list[Part]) -> Part:
    if len(parts) == 1:
        return parts[0]
    return lambda context, place, found: (parse for read in parts for parse in read(context, place, found))


def _maybe(read: Part) -> Part:
    return lambda context, place, found: (next(iter(read(context, place, found)), Parse(place, None, 0.0)),)

"""`RulesReader`: a question to a line, by the rules of a grammar; or why not, and what it could be asked instead."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.protocols import Run
from orienteer.reading.assembly import assembled
from orienteer.reading.clauses import all_said, noun_phrases, one_said
from orienteer.reading.edges import contrary, facts_of_edges, rows_within
from orienteer.reading.lexicon import Lexicon
from orienteer.reading.linker import AnchorConfig, LinkedPhrase, PhraseLinker
from orienteer.reading.nesting import Nesting
from orienteer.reading.nouns import people_of
from orienteer.reading.query import (
    Among,
    Condition,
    Either,
    ExactQuery,
    Joined,
    NodeSet,
    Valued,
    edges_of,
    joined_of,
    of_one_row,
    parts_of,
    placed,
    sets_within,
    without,
)
from orienteer.reading.questions import read_queries
from orienteer.reading.refusals import (
    Unanswered,
    doubt,
    nearest_questions,
    not_understood,
    refusal_of,
    unsupported,
)
from orienteer.reading.relations import SchemaRelations
from orienteer.reading.rules import Context, Parse
from orienteer.reading.texts import said_within
from orienteer.reading.units import LIGHT_FIT, SURE_NAME, SYNONYM, NameUnit, Units, ValueUnit, name_words
from orienteer.reading.vocabulary import ENGLISH, WORDS, QuestionWords, SchemaWords
from orienteer.reading.wording import QueryWording
from orienteer.records import Reading, Refusal, Sense

_SPELLED_OUT = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"(?i)\bcan(?:no|['’])t\b", "can not"),
        (r"(?i)\bwon['’]t\b", "will not"),
        (r"(?i)\b(who|what|where|how)['’]?s\b", r"\1 is"),
        (r"(?i)\b(is|are|was|were|do|does|did|has|have|had|could|would|should)n['’]?t\b", r"\1 not"),
        (r" ?(?:>=|≥|=>) ?", " at least "),
        (r" ?(?:<=|≤|=<) ?", " at most "),
        (r" ?(?:!=|<>|≠) ?", " is not "),
        (r"(?<![-\w]) ?> ?(?=[\d.])", " over "),
        (r"(?<![-\w]) ?< ?(?=[\d.])", " under "),
        (r" ?==? ?", " is "),
        (r"(?<!\d)(?<!\d )%(?=age\b)", " percent"),
        (r"(?<!\d)(?<!\d ) ?%", " percent "),
        (r"(?i)\b(look(?:s|ed|ing)?) after\b", r"\1"),
        (r"(?i)\b(?:place|city|town|country) of birth\b", "birthplace"),
        (r"(?i)\bbirth (?:place|city|town|country)\b", "birthplace"),
        (r"(?i),? ?\bif (?:there are |there is )?any\b,?", " "),
        (r"(?i),? ?\b(?:would|do) you (?:say|think|reckon|suppose)\b,?", " "),
    )
)
"""Signs, contractions and turns of phrase, and what is read in their place."""


_ORDINAL = re.compile(
    rf"(?i)\b({'|'.join([*ENGLISH.ordinals, '2nd', '3rd', '[4-9]th', '10th'])})[-\s]+"
    rf"(?=(?:{'|'.join([*ENGLISH.superlatives, *ENGLISH.most])})\b)"
)
"""`second` before a superlative."""
_AT_ANY_DEPTH = re.compile(rf"(?i),?\s*\b(?:{'|'.join(ENGLISH.phrases['at any depth'])})\b")
_UN = re.compile(r"(?i)\bun(\w{4,})")
_PLAIN = re.compile(r"\b(direct|(?:(?<=\bno )|(?<=\bany ))(?:recorded|registered|listed|documented)) (?=(\w+))")
_MOST_WORDS = 60  # more are not read: rules call one another for every word, and nobody asks one thing at such length
_MOST_CHARACTERS = 2_000
_TOO_LONG = f"too long to be read exactly: {_MOST_WORDS} words are read"
_MAJORITIES = (["of", "the"], ["of", "these"], ["of", "their"], ["of", "its"])
"""Words behind `most` where it is more than half, and no superlative."""
_NUMBERS = ("count", "average", "sum", "compare")
_NEAREST = 3  # questions that are offered
_MOST_TRIED = 5  # each is read once more
_MOST_SENSES = 6  # types that one name is of; each is one more reading
_BEGINNING = 5  # words; before, `each` says no more than `all`: "give me each noun that"


def _of_rows(units: Units, place: int, rows: Collection[int], node_types: Rows) -> Units:
    """Return units in which a name is of some rows alone, and every other that may be of their type is of it alone."""
    kinds, names = {int(node_types[row]) for row in rows}, {}
    for at, several in units.names.items():
        cuts = (
            tuple(row for row in unit.rows if (row in rows if at == place else int(node_types[row]) in kinds))
            for unit in several
        )
        names[at] = [unit._replace(rows=cut or unit.rows) for cut, unit in zip(cuts, several, strict=True)]
    return replace(units, names=names, values={**units.values, place: []})


class _Ambiguous(Exception):
    """A name is of several types, of which no one number is told."""


class _Ambiguity(NamedTuple):
    """A name of several kinds of things."""

    place: int
    parts: Mapping[str, list[int]]
    """Its nodes by what tells them apart."""
    values: Sequence[ValueUnit]


class _Sense(NamedTuple):
    """What a question means if one of its names is of a type."""

    label: str
    query: ExactQuery


@dataclass(frozen=True, slots=True)
class _Understood:
    """What was understood of a question."""

    query: ExactQuery | None
    cost: float = 0.0
    refusal: Refusal | None = None
    """Why there is no query."""
    context: Context | None = None
    """The words that were not understood together, for the nearest questions."""
    respelled: tuple[LinkedPhrase, ...] = ()
    rules: tuple[str, ...] = ()
    """Examples of the rules that it was read by, the widest first."""
    senses: tuple[_Sense, ...] = ()
    """What it means by each of several types that a name is of, the most joined first. Empty if there is one."""
    within: frozenset[int] | None = frozenset()
    """Nodes that are said to be places where something is; None where it is to be directly there."""


def _unread(context: Context, refusal: Refusal) -> _Understood:
    return _Understood(None, refusal=refusal, context=context)


class RulesReader:
    """Reads questions about one graph exactly, or not at all. Safe to share among threads."""

    name = "rules"

    def __init__(self, graph: Graph, vocabulary: SchemaWords | None = None, linker: PhraseLinker | None = None) -> None:
        """`vocabulary` and `linker` are those of a ranking over the same graph, if it has them."""
        vocabulary = vocabulary or SchemaWords(graph)
        self.lexicon = Lexicon(graph, vocabulary, linker or PhraseLinker(graph, vocabulary, AnchorConfig()))
        self._relations, self._wording = SchemaRelations(self.lexicon), QueryWording(graph)
        self._nesting = Nesting(self.lexicon, self._relations)
        self.lexicon.nested = frozenset(self._nesting.places)

    def read(self, question: str, run: Run | None = None) -> Reading | Refusal:
        """Return the line that a question says; a refusal where some word of it is not understood. No call is made."""
        question = " ".join(question.split())
        read = self._understood(question)
        if read.query is None:
            assert read.refusal is not None
            nearest = () if read.context is None else self._nearest(read.context)
            return read.refusal.model_copy(update={"questions": nearest})
        depth = _AT_ANY_DEPTH.search(question)
        widened = partial(self._nesting.widened, within=read.within, is_far=depth is not None)
        whole, senses = widened(read.query), [(one.label, widened(one.query)) for one in read.senses]
        if depth is not None and (whole.deep > 1 or not (whole.deep or whole.names)):
            return not_understood(depth[0].strip(" ,"))
        inside = dict.fromkeys(name for one in (whole, *(sense for _, sense in senses)) for name in one.names)
        return Reading(
            text=self._wording.line(whole.query),
            by=self.name,
            rules=read.rules,
            senses=tuple(Sense(label=label, text=self._wording.line(sense.query)) for label, sense in senses),
            notes=(
                *self._between(read.query),
                *(f"in {name}: {name} and what is part of it" for name in inside),
                *self._direct(read.query),
                *_respelled(read),
            ),
        )

    def names(self, question: str) -> bool:
        """Return whether a question surely names a node of the graph."""
        units, _ = self.lexicon.units(self.lexicon.vocabulary.read(question))
        return any(unit.cost < SURE_NAME for own in units.names.values() for unit in own)

    def _nearest(self, context: Context) -> tuple[str, ...]:
        """Return the nearest questions that are understood, made of the words that are."""
        lines = dict[str, str]()
        for question in islice(nearest_questions(context), _MOST_TRIED):
            read = self._understood(question)
            if read.query is not None:
                lines.setdefault(self._wording.line(read.query), question)
            if len(lines) == _NEAREST:
                break
        return tuple(lines.values())

    def _direct(self, query: ExactQuery) -> Iterator[str]:
        """Yield that places with others in them are ranked or grouped by what an edge joins to them."""
        bests = [nodes.best.measure for nodes in sets_within(query) if nodes.best is not None]
        counted = [(query.nodes.types, measure) for measure in bests if measure.target is not None]
        if query.group is not None and query.group.target is not None:
            counted.append((query.group.target.types, query.group))
        if any(types & self._nesting.places.keys() for types, _ in counted):
            yield "of a place, what an edge joins to it is counted, and not what is in its parts"

    def _between(self, query: ExactQuery) -> Iterator[str]:
        """Yield over what other kinds nodes were joined that no edge joins."""
        between = (joined.target for joined in joined_of(query.nodes) if joined.target.is_between)
        labels = dict.fromkeys(self._label(kind) for nodes in between for kind in nodes.types)
        if labels:
            yield f"no edge joins them: read by way of {', '.join(labels)}"

    def _denied(self, match: re.Match[str]) -> str:
        """Return `non approved` for `unapproved`, where a property says whether something is approved."""
        stem = self.lexicon.vocabulary.stem(match[1].casefold())
        is_told = any(facts.kind == "boolean" and facts.stems == (stem,) for facts in self.lexicon.properties.values())
        return f"non {match[1]}" if is_told else match[0]

    def _unadorned(self, match: re.Match[str]) -> str:
        """Return nothing for `direct`, `no recorded`, before what edges are called, each of which is so."""
        fits = [max((unit.fit for unit in self.lexicon.edges_called(word)), default=0.0) for word in match.groups()]
        is_value = bool(self.lexicon.graph.arrays.properties.names_with_value(match[1]))
        is_told = is_value or any(match[1] in name_words(name) for name in self.lexicon.properties)
        return match[0] if is_told or fits[0] > SYNONYM or fits[1] < 1 else ""

    def _meant(
        self, context: Context, parse: Parse[ExactQuery], people: frozenset[int], ordinals: list[str]
    ) -> _Understood:
        """Return the query that was read, with what single words say of all of it; none where one asks for more."""
        unanswered = Unanswered(context, self._relations, people).word(parse.value)
        if unanswered is not None:
            return _unread(context, not_understood(unanswered))
        if "both" in context.words and any(map(_is_of_either, sets_within(parse.value))):
            return _unread(context, not_understood("both"))
        if any(map(self._contradicts, sets_within(parse.value))):
            return _unread(context, unsupported("two conditions cannot hold together: say it in two questions"))
        nodes = parse.value.nodes
        if parse.value.form == "test" and nodes.best and any(isinstance(one, Among) for one in nodes.conditions):
            return _unread(context, unsupported("one thing alone has no rank: ask which it is"))  # "is X the tallest Y"
        if _counts_between(parse.value):
            return _unread(context, unsupported("no edge joins what is counted to it: name the kinds between them"))
        if any(self._is_beside(context, parse.value, date, place) for date, place in context.bare_dates.items()):
            return _unread(context, unsupported("the date may be that of an edge: say when what was, or began"))
        if (why := doubt(context, self._relations, parse.value)) is not None:
            return _unread(context, unsupported(why))
        is_apart = not WORDS["said apart"].isdisjoint(context.words)
        query = _but_others(context, parse.value if is_apart else of_one_row(parse.value))
        if query is None:
            return _unread(context, not_understood("other"))
        ordinal = ordinals[0].casefold() if len(ordinals) == 1 else "1st"
        place = ENGLISH.ordinals.get(ordinal) or int(ordinal.rstrip("stndrh"))
        behind = placed(query, place - 1) if len(ordinals) == 1 else query
        if behind is None:
            return _unread(context, not_understood(ordinals[0]))
        return _Understood(behind, parse.cost, rules=_rules_of(context, parse.value), within=rows_within(context))

    def _is_beside(self, context: Context, query: ExactQuery, date: object, place: int) -> bool:
        """Return whether a date with no word of its own was given to a node, and stands behind an edge with dates."""
        is_given = any(date in nodes.conditions for nodes in sets_within(query))
        if is_given and self._counts_dated_rows(query):
            return True  # "the most deliveries of Old Eel in 2025": the pub need not have opened then
        behind = any(unit.fit > LIGHT_FIT for at in range(place) for unit in context.units.edges.get(at, ()))
        return is_given and behind and any(own.is_measured for own in facts_of_edges(context, list(edges_of(query))))

    def _counts_dated_rows(self, query: ExactQuery) -> bool:
        """Return whether a superlative counts rows that have dates of their own."""
        targets = [nodes.best.measure.target for nodes in sets_within(query) if nodes.best is not None]
        counted = {kind for target in targets if target is not None for kind in target.types}
        dated = (facts.types for facts in self.lexicon.properties.values() if facts.kind in ("year", "date"))
        return any(not counted.isdisjoint(types) for types in dated)

    def _contradicts(self, nodes: NodeSet) -> bool:
        """Return whether conditions of a set rule one another out, or say nothing: "a planting in X but not in Y"."""
        among = [condition for condition in nodes.conditions if isinstance(condition, Among)]
        is_empty = any(
            set(one.rows) <= set(other.rows) for one in among for other in among if not one.negated and other.negated
        )
        values = [one for one in nodes.conditions if isinstance(one, Valued)]
        valued = {(one.property, one.value) for one in values if one.comparison == "=" and not one.negated}
        listed = {name for name, facts in self.lexicon.properties.items() if facts.is_list}
        own, properties = self._relations.types_of(nodes), self.lexicon.properties
        if any(name in properties and own.isdisjoint(properties[name].types) for name, _ in valued):
            return True  # no batch is a porter
        eithers = [one for one in nodes.conditions if isinstance(one, Either) and not one.negated]
        either = {name for one in eithers for name in _properties_of(one)}
        told = [name for name in (*(name for name, _ in valued), *either) if name not in listed]
        if len(told) > len(set(told)):
            return True  # nobody whose job is "actor" has the job "director"
        joined = (condition for condition in nodes.conditions if isinstance(condition, Joined) and not condition.where)
        edges = [one for one in joined if one.comparison is None and one.extent == "some"]
        compared = {name for one in nodes.conditions for name in _properties_of(one)}
        if any(
            self._relations.labels.of(one.kinds) & compared for one in edges if self._relations.is_single(one.kinds)
        ):
            return True  # "in Utrecht, Porto or Galway" is a list: nobody whose `city` is Utrecht has another city
        kinds = {one.kinds for one in edges if one.negated} & {one.kinds for one in edges if not one.negated}
        return is_empty or any(map(self._relations.is_single, kinds))

    def _senses(self, read: _Understood, reading: QuestionWords, units: Units, ordinals: list[str]) -> list[_Sense]:
        """Return what a question means by each type of node, or value, that one of its names is of, if several fit.

        A name that is read as nodes of all its types together is left so: then all of them are meant. Raises
        `_Ambiguous` where of these no one number is told.
        """
        query, node_types = read.query, self.lexicon.graph.arrays.node_types
        named, denied = _rows_of(query), _rows_of(query, negated=True) - _rows_of(query)
        is_sum = query is None or query.form in (*_NUMBERS, "test")
        for place, unit in [(place, unit) for place, own in units.names.items() for unit in own]:
            if denied.intersection(unit.rows):
                continue  # "packages other than perl" says which of what is called so
            types = {int(node_types[row]) for row in unit.rows}
            values = [value for value in units.values.get(place, ()) if value.last == unit.last]
            meant = types if query is None else {int(node_types[row]) for row in named & set(unit.rows)}
            is_one = meant == types and not values and not is_sum
            parts = self._parts(unit, is_sum=is_sum and query is not None)
            if not 1 < len(parts) + len(values) <= _MOST_SENSES or is_one or not (meant or values):
                continue
            able = [label for label, rows in parts.items() if query is None or self._may_have(set(rows), query)]
            if query is not None and len(able) == 1 < len(parts) and not values:  # a play is a tragedy
                return [_Sense(able[0], without(query, set(unit.rows).difference(parts[able[0]])))]
            senses = self._by_parts(read, reading, units, ordinals, _Ambiguity(place, parts, values))
            # What says something else of the other things is far-fetched: all senses say the same of each.
            senses = [one for one in senses if _shape(one.query) == _shape(senses[0].query)]
            if query is not None:
                senses = [one for one in senses if one.query.nodes.types <= query.nodes.types]
            elif any(one.query.form not in _NUMBERS for one in senses):
                return []  # what is not understood of all of its types, is not by one alone
            if len(senses) > 1 or (senses and query is None):
                return senses
            if meant == types and len(types) > 1 and is_sum and query is not None:
                labels = sorted(map(self._label, types))
                raise _Ambiguous(f"{reading.surface(place, unit.last)!r} is a {' and a '.join(labels)}: say which")
        return []

    def _parts(self, unit: NameUnit, *, is_sum: bool) -> dict[str, list[int]]:
        """Return the nodes of a name by their type; for a number, namesakes of one type each for itself."""
        arrays, by_type = self.lexicon.graph.arrays, dict[int, list[int]]()
        for row in unit.rows:
            by_type.setdefault(int(arrays.node_types[row]), []).append(row)
        parts = {self._label(kind): rows for kind, rows in by_type.items()}
        are_namesakes = (
            len(parts) == 1 < len(unit.rows) and len({arrays.names[row].casefold() for row in unit.rows}) == 1
        )
        if is_sum and are_namesakes and not self._relations.shares_names(*by_type):
            label, ids = next(iter(parts)), {row: arrays.ids[row] for row in unit.rows}
            return {key if ":" in key else f"{label} {key}": [row] for row, key in ids.items()}
        return parts

    def _by_parts(
        self, read: _Understood, reading: QuestionWords, units: Units, ordinals: list[str], name: _Ambiguity
    ) -> list[_Sense]:
        """Return what a question means by each part of a name's nodes, or value, those first that have most edges.

        Where it means several parts together, each is cut out of that. It is read anew for the others that an edge
        joins to the same kind of nodes.
        """
        place, parts, values = name
        arrays, senses = self.lexicon.graph.arrays, list[tuple[int, float, _Sense]]()
        everything = {row for rows in parts.values() for row in rows}
        meant = everything & _rows_of(read.query)
        for label, rows in parts.items():
            one = read
            if read.query is not None and meant.intersection(rows):
                one = replace(read, query=without(read.query, everything.difference(rows)))
            elif read.query is None or self._are_joined(rows[0], read.query, meant):
                one = self._read(reading, _of_rows(units, place, rows, arrays.node_types), ordinals)
            own = set(rows) & _rows_of(one.query)
            if one.query is not None and own:
                degree = int(arrays.adjacency.degree(np.array(list(own))).sum())
                senses.append((-degree, one.cost, _Sense(label, one.query)))
        for value in values:
            alone = replace(units, names={**units.names, place: []}, values={**units.values, place: [value]})
            one = self._read(reading, alone, ordinals)
            if one.query is not None:
                senses.append((0, one.cost, _Sense(value.property, one.query)))
        return [sense for _, _, sense in sorted(senses, key=lambda one: one[:2])]

    def _may_have(self, rows: set[int], query: ExactQuery) -> bool:
        """Return whether nodes are of types that have the values and the edges which are asked of them."""
        types, properties = {int(self.lexicon.graph.arrays.node_types[row]) for row in rows}, self.lexicon.properties
        kinds = {hop.kind for kind in types for hop in self.lexicon.vocabulary.hops[kind]}
        said = (
            condition
            for nodes in sets_within(query)
            if any(isinstance(one, Among) and rows.intersection(one.rows) for one in nodes.conditions)
            for condition in nodes.conditions
        )
        return not any(
            (
                isinstance(one, Valued)
                and one.property in properties
                and types.isdisjoint(properties[one.property].types)
            )
            or (isinstance(one, Joined) and kinds.isdisjoint(one.kinds))
            for one in said
        )

    def _are_joined(self, row: int, query: ExactQuery, meant: set[int]) -> bool:
        """Return whether edges lead to the kind of a node from what leads to those that are meant; true of no edge."""
        near = {kind for nodes in _sets_around(query.nodes, meant) for kind in self._relations.types_of(nodes)}
        own = int(self.lexicon.graph.arrays.node_types[row])
        return not near or any(self._relations.lead(kind, own) for kind in near)

    def _label(self, kind: int) -> str:
        return self.lexicon.graph.schema.label(self.lexicon.graph.arrays.types.nodes[kind])

    def _understood(self, text: str) -> _Understood:
        """Return the query that a question means; none where some word of it is not understood."""
        text = " ".join(text.split())
        if len(text) > _MOST_CHARACTERS:
            return _Understood(None, refusal=unsupported(_TOO_LONG))
        for pattern, replacement in _SPELLED_OUT:
            text = pattern.sub(replacement, text)
        text = _PLAIN.sub(self._unadorned, _UN.sub(self._denied, _AT_ANY_DEPTH.sub("", text)))
        ordinals = _ORDINAL.findall(text)
        text = _ORDINAL.sub("", text) if len(ordinals) == 1 else text
        vocabulary = self.lexicon.vocabulary
        written = vocabulary.read(text)
        if len(written.words) > _MOST_WORDS:
            return _Understood(None, refusal=unsupported(_TOO_LONG))
        held = said_within([word.text for word in written.words], WORDS["before text"])
        reading = vocabulary.corrected(written, right=ENGLISH.opening | held)
        units, respelled = self.lexicon.units(reading)
        read = self._read(reading, units, ordinals)
        try:
            senses = self._senses(read, reading, units, ordinals)
        except _Ambiguous as error:
            return _Understood(None, refusal=unsupported(str(error)))
        if len(senses) == 1 and read.query is not None:
            read = replace(read, query=senses[0].query)
        elif senses:
            read = replace(read, query=read.query or senses[0].query, senses=tuple(senses))
        meant = [_rows_of(query) for query in (read.query, *(sense.query for sense in read.senses))]
        names = self.lexicon.graph.arrays.names
        for place, unit in [(place, unit) for place, own in units.names.items() for unit in own if unit.is_part]:
            own = reading.surface(place, unit.last)
            for holding in (dict.fromkeys(names[row] for row in unit.rows if row in rows) for rows in meant):
                if len(holding) > 1:
                    why = f"{own!r} is only a part of several names, say which: {', '.join(holding)}"
                    return _Understood(None, refusal=unsupported(why))
        return replace(read, respelled=tuple(respelled)) if read.query is not None else read

    def _read(self, reading: QuestionWords, units: Units, ordinals: list[str]) -> _Understood:
        """Return what words mean, by what each may be."""
        context = Context(reading, units, self.lexicon)
        grouped, majority = _grouped(context), _majority(context)
        unsaid = _unanswerable(context)
        if unsaid is not None:
            return _unread(context, not_understood(unsaid))
        context.relations, context.nesting = self._relations, self._nesting
        context.nodes, context.described = partial(noun_phrases, context), partial(all_said, context)
        context.modifiers = partial(one_said, context)
        try:
            parses = read_queries(context) or assembled(context)
        finally:
            context.forget_rules()
        if context.is_too_deep:
            return _Understood(None, refusal=unsupported(_TOO_LONG))
        if grouped is not None and not (parses and _is_of_each(parses[0].value, grouped)):
            many = next((why for why in context.complaints if why.startswith("several kinds of edges")), None)
            return _unread(context, unsupported(many) if many is not None else not_understood(grouped))
        if majority is not None and not (parses and parses[0].value.form == "majority"):
            return _unread(context, not_understood(majority))
        if any(_is_torn(parses[0], other) for other in parses[1:]):
            return _Understood(
                None, refusal=unsupported("what follows `and` may be said of either: make two questions of it")
            )
        if any(_is_torn_from_denial(parses[0].value.nodes, other.value.nodes) for other in parses[1:]):
            return _Understood(
                None, refusal=unsupported("what is said last may be of what is denied: make two questions of it")
            )
        if parses:
            return self._meant(context, parses[0], people_of(context), ordinals)
        return _unread(context, refusal_of(context))


def _properties_of(condition: Condition) -> set[str]:
    """Return the properties of nodes with which a condition, or an option of it, compares."""
    options = condition.options if isinstance(condition, Either) else ((condition,),)
    return {one.property for option in options for one in option if isinstance(one, Valued)}


def _is_torn(parse: Parse[ExactQuery], other: Parse[ExactQuery]) -> bool:
    """Return whether two readings, equally likely, say one thing of different nodes of one type."""
    first, second = (list(_said_of(one.value.nodes)) for one in (parse, other))
    # where only the order differs, they say the same of each set
    is_same = sorted(said for said, _ in first) == sorted(said for said, _ in second)
    return other.cost <= parse.cost + 1e-9 and is_same and sorted(first) != sorted(second)


def _is_torn_from_denial(nodes: NodeSet, other: NodeSet) -> bool:
    """Return whether the last that is denied may be said instead: `pubs with no deliveries by X that have Y`."""
    inner, outer = (
        [one for one in own.conditions if isinstance(one, Joined) and one.negated] for own in (nodes, other)
    )
    is_less = any(
        one.kinds == two.kinds
        and 1 <= len(two.target.conditions) < len(one.target.conditions)
        and one.target.conditions[: len(two.target.conditions)] == two.target.conditions
        for one in inner
        for two in outer
    )
    return is_less and len(other.conditions) > len(nodes.conditions)


def _said_of(nodes: NodeSet, depth: int = 0) -> Iterator[tuple[str, int]]:
    """Yield what is said of the nodes of a set, and of those that it leads to, each with how deep within it stands."""
    for condition in nodes.conditions:
        if isinstance(condition, Joined):
            yield repr((nodes.types, replace(condition, target=replace(condition.target, conditions=())))), depth
            yield from _said_of(condition.target, depth + 1)
        else:
            yield repr((nodes.types, condition)), depth


def _rules_of(context: Context, query: ExactQuery) -> tuple[str, ...]:
    """Return examples of the rules that read a query or a part of it, the widest first."""
    parts = {id(part): number for number, part in enumerate(parts_of(query))}
    parts |= {id(value): 0 for _, value in context.fired if isinstance(value, ExactQuery) and value == query}
    fired = [(parts[id(value)], example) for example, value in context.fired if id(value) in parts]
    return tuple(dict.fromkeys(example for _, example in sorted(fired, key=lambda one: one[0]) if example))


def _respelled(read: _Understood) -> Iterator[str]:
    """Yield what was read otherwise than it is written, where it is used."""
    named = _rows_of(read.query)
    for phrase in read.respelled:
        if any(candidate.row in named for candidate in phrase.candidates):
            yield f"read {phrase.phrase!r} as {phrase.read_as!r}"


def _shape(query: ExactQuery) -> tuple[object, ...]:
    """Return what a query says, whichever edges it goes by, and whichever nodes of a name are meant."""
    return (query.form, query.measure and query.measure.property, _shape_of(query.nodes))


def _shape_of(nodes: NodeSet) -> tuple[object, ...]:
    if nodes.is_between and len(nodes.conditions) == 1 and isinstance(nodes.conditions[0], Joined):
        return _shape_of(nodes.conditions[0].target)
    return (nodes.best, tuple(map(_shape_of_condition, nodes.conditions)))


def _shape_of_condition(condition: Condition) -> object:
    if isinstance(condition, Among):
        return condition.negated
    if isinstance(condition, Valued) and condition.comparison == "=":
        return _shape_of_condition(Joined((), NodeSet(conditions=(Among(()),)), condition.negated))
    if isinstance(condition, Joined):
        return replace(condition, kinds=(), target=NodeSet()), _shape_of(condition.target)
    return condition


def _counts_between(query: ExactQuery) -> bool:
    """Return whether a query counts what only other kinds join to nodes: those between would be counted."""
    joined = list(joined_of(query.nodes))
    bests = [nodes.best.measure for nodes in (query.nodes, *(one.target for one in joined)) if nodes.best is not None]
    targets = [measure.target for measure in (*bests, query.measure) if measure is not None]
    targets += [one.target for one in joined if one.comparison is not None or one.extent != "some"]
    return any(target is not None and target.is_between for target in targets)


def _grouped(context: Context) -> str | None:
    """Return the word that asks for an answer for each of several, which few queries give."""
    for place, word in enumerate(context.words):
        is_test = place == 1 and context.at(0) in WORDS["asking"]
        is_within = word in ("everyone", "everybody", "everything") and (place > 2 or is_test)  # "give me everyone who"
        is_within |= word == "each" and bool({"many", "number", "average", "total"} & set(context.words[:place]))
        is_late = place > _BEGINNING or context.at(place - 1) == "for"
        if word == "per" or is_within or (word in ("each", "every") and is_late):
            return context.reading.surface(place, place + 1)
    return None


def _is_of_each(query: ExactQuery, word: str) -> bool:
    """Return whether a query tells something for each of several; an average "per module" is that of the modules.

    Who has the most "per hour" is one by the hourly wage.
    """
    is_by_property = word == "per" and query.nodes.best is not None and bool(query.nodes.best.measure.property)
    return query.group is not None or query.form == "average" or is_by_property or _is_of_every(query)


def _is_of_every(query: ExactQuery) -> bool:
    """Return whether `every` is a condition of a query, and does not ask for an answer for each of several."""
    if query.form == "every":
        return True
    is_plain = query.form in ("list", "count", "test") and query.nodes.best is None
    return is_plain and any(condition.extent == "every" for condition in joined_of(query.nodes))


def _majority(context: Context) -> str | None:
    """Return `most` where it is more than half: `most of the`."""
    for place, word in enumerate(context.words):
        before, behind = context.at(place - 1), context.words[place + 1 : place + 3]
        if word == "most" and before != "the" and behind in _MAJORITIES:
            return context.reading.surface(place, place + 1)
    return None


def _unanswerable(context: Context) -> str | None:
    """Return a word that no query answers: what ties two parts together, `most` as a majority, a letter `a`."""
    for place, word in enumerate(context.words):
        before, some = context.at(place - 1), context.at(place - 2)
        is_part = some in WORDS["turning"] | WORDS["several"] | {"one"} or place - 2 in context.units.quantities
        if word in ("which", "whom") and before == "of" and place > 1 and is_part:
            return context.reading.surface(place - 2, place + 1)  # "two beers, one of which is dark"
        is_owned = word in ("their", "its", "his", "her") and before not in WORDS["before their"]
        is_owned = is_owned and context.words[place - 2 : place] != ["that", "of"]
        is_owned = is_owned and not (before == "in" and _is_text(context, place + 1))  # "X in their name"
        if is_owned and not any(mark in context.reading.text for mark in ".;:") and place < context.end - 1:
            return context.reading.surface(place, place + 1)
        if (
            word == "all" and before != "of" and "whose" in context.words[:place]
        ):  # which of them are all so is not read
            return context.reading.surface(place, place + 1)
        is_one = word in ("different", "distinct") and before in ("a", "an", "another", "some", "one")
        if is_one or (word == "different" and not {"than", "from", "to"}.isdisjoint(context.words[place:])):
            return context.reading.surface(place, place + 1)
        if word == "a" and before in ("a", "an", "the"):  # "an A licence"
            return context.reading.surface(place, place + 1)
    return None


def _is_text(context: Context, place: int) -> bool:
    """Return whether a word is that for the name of nodes, or for a property that holds texts."""
    own = (context.lexicon.properties[unit.property].kind for unit in context.units.properties.get(place, ()))
    return context.at(place) in WORDS["name of node"] | WORDS["text of node"] or "text" in own


def _is_of_either(nodes: NodeSet) -> bool:
    """Return whether nodes are one thing or another: none is "both hard and steep"."""
    return any(
        isinstance(condition, Either) and {len(option) for option in condition.options} == {1}
        for condition in nodes.conditions
    )


def _but_others(context: Context, query: ExactQuery) -> ExactQuery | None:
    """Return a query without what the question itself names, where it asks for others: `other languages by X`."""
    places = [place for place, word in enumerate(context.words) if word in ("other", "others", "else")]
    is_asked = any(
        context.at(place + 1) != "than" and context.at(place - 1) not in ("any", "all", "every", "each", "nowhere")
        for place in places
    )
    if any(context.at(place - 1) in ("no", "nobody", "nothing", "none", "one") for place in places):
        nodes = _of_no_others(query.nodes)
        return None if nodes is None else replace(query, nodes=nodes)
    rows = tuple(sorted(_rows_of(query.nodes))) if is_asked and query.form in ("list", "count") else ()
    # `the same brewery as X` asks for others by itself
    leaves_out = any(isinstance(one, Among) and one.negated for one in query.nodes.conditions)
    if is_asked and not rows and query.form in ("list", "count") and not leaves_out:
        return None  # doctors in "other wards": other than what?
    return replace(query, nodes=query.nodes.that(Among(rows, negated=True))) if rows else query


def _of_no_others(nodes: NodeSet) -> NodeSet | None:
    """Return a set of which a relation is denied to others than it is said to: `that X binds and no other does`."""
    joined = [one for one in nodes.conditions if isinstance(one, Joined) and not one.negated]
    said = {one.kinds: one.target for one in joined}
    if len(said) < len(joined):
        return None  # others than which of them?
    conditions = tuple(
        replace(one, target=one.target.that(*contrary(said[one.kinds].conditions)))
        if isinstance(one, Joined) and one.negated and one.kinds in said and said[one.kinds].conditions
        else one
        for one in nodes.conditions
    )
    is_only = any(isinstance(one, Joined) and one.extent == "only" for one in conditions)
    return replace(nodes, conditions=conditions) if is_only or conditions != nodes.conditions else None


def _rows_of(said: object, *, negated: bool = False) -> set[int]:
    """Return the rows of all nodes that a query, or a part of one, names; or of those that it leaves out."""
    return {row for one in parts_of(said) if isinstance(one, Among) and one.negated == negated for row in one.rows}


def _sets_around(nodes: NodeSet, rows: set[int]) -> Iterator[NodeSet]:
    """Yield the sets that relations join to nodes that are named."""
    for condition in nodes.conditions:
        if isinstance(condition, Joined):
            if rows.intersection(condition.target.named):
                yield nodes
            yield from _sets_around(condition.target, rows)

"""What a question names: phrases for nodes of the graph (step 1), and the kind of thing that is asked for (step 2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from pydantic import Field

from orienteer.graph.names import named_in_part
from orienteer.graph.store import Graph
from orienteer.index.names import SHORTEST_SPELLED, Link, NameKind
from orienteer.options import Options
from orienteer.reading.vocabulary import (
    ALIKE,
    ENGLISH,
    WORDS,
    Label,
    QuestionWords,
    SchemaWords,
    abbreviates,
    alike,
    best_alike,
)
from orienteer.remembered import cached_method
from orienteer.retrieval.mentions import letter_likeness
from orienteer.text import english

# =============================================================================================================== linker
# Step 1: the phrases of a question that name nodes of the graph.
# Qualities and bounds are the prototype's, tuned on GRBench, PKG and DEB (docs/anchor.md, "Constants").

_BY_ALIAS = 0.8  # below an exact name: aliases are shared more often
_BY_STEM = 0.85  # above an alias: other endings, the same words
_OTHERWISE_WRITTEN = 0.95  # case or punctuation differ: breaks ties between nodes of one name
_AS_ACRONYM = 0.7  # a lower-case word for a name in capitals
_NEAR_BEST = 0.25  # nodes of one phrase this far below its best are kept: types tell them apart later (DEB +.055)
_WORD_OF_TEXTS = 3  # texts; a lower-case word that this many have is no acronym
_LONGEST = 24  # words
_COMPANY = 3  # words before a doubtful correction that may bear it out
_LONG = 4_000  # nodes; two words that more nodes than this have are taken to stand together somewhere
_COMMONER = 25  # times; a word that texts use so much more than edges touch its node is a word, and no name
# (unmeasured: a smaller number loses names of few edges, a larger one takes common words for names)
_REMEMBERED = 64  # questions of threads that ask at the same time
_MOST_ANCHORS = 16  # nobody asks for what joins more; each costs its own walk
_RARE = 2  # nodes; a word that only so few have may itself be a typing error
_SHORTEST_SPELLED = 3  # letters
_LONGEST_SYMBOL = 9  # letters of a symbol; longer ones are spelled as words are, or not at all
_MOST_CORRECTIONS = 6  # corrections of a short word or a symbol; with more, nobody can tell
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"
_ONE_EDIT = 0.75  # how likely a short word is one of those a letter away; below all links but acronyms
_LIKELY = 0.9  # how likely a long word is the name's word spelled most like it
_NEVER_RESPELLED = english.ASKING | english.SUPERLATIVE | english.JOINING


class Candidate(NamedTuple):
    """A node that a phrase may mean."""

    row: int
    quality: float


@dataclass(frozen=True, slots=True)
class LinkedPhrase:
    """A phrase of the question, words `first` up to `last`, and the nodes that it may mean, best first."""

    first: int
    last: int
    phrase: str
    candidates: tuple[Candidate, ...]
    terms: tuple[str, ...]
    read_as: str | None = None
    """The name as it is spelled, where the question spells it otherwise."""
    is_doubtful: bool = False
    """It may be a common word that only happens to be a name."""

    @property
    def quality(self) -> float:
        """Return how well the best node answers to the phrase."""
        return self.candidates[0].quality

    @property
    def words(self) -> range:
        """Return the places of its words."""
        return range(self.first, self.last)


class PhraseLinker:
    """Links phrases of questions to the nodes of one graph."""

    def __init__(self, graph: Graph, vocabulary: SchemaWords, config: AnchorConfig) -> None:
        self._graph, self._vocabulary, self._config = graph, vocabulary, config
        self._speller = Speller(graph, vocabulary)

    def link(self, reading: QuestionWords) -> tuple[LinkedPhrase, ...]:
        """Return the anchors of a question, in its order; the longest phrases win, and none overlap."""
        phrases = sorted(self.phrases(reading), key=lambda anchor: (-len(anchor.words), -anchor.quality, anchor.first))
        taken: set[int] = set()
        anchors: list[LinkedPhrase] = []
        for anchor in phrases:
            if taken.isdisjoint(anchor.words):
                taken.update(anchor.words)
                anchors.append(anchor)
        sure = [anchor for anchor in anchors if not anchor.is_doubtful]
        first: dict[frozenset[int], LinkedPhrase] = {}  # a thing named twice is one thing
        for anchor in sorted(sure or anchors, key=lambda anchor: anchor.first):
            first.setdefault(frozenset(node.row for node in anchor.candidates), anchor)
        return tuple(first.values())[:_MOST_ANCHORS]

    @cached_method(_REMEMBERED)  # the exact reading and the ranking ask for those of one question, one after the other
    def phrases(self, reading: QuestionWords) -> tuple[LinkedPhrase, ...]:
        """Return every phrase of a question that names nodes; they may overlap."""
        phrases = [anchor for first in range(len(reading.words)) for anchor in self._spans(reading, first)]
        return (*phrases, *(self._respelled(reading, phrases) if self._config.spelling else ()))

    def _respelled(self, reading: QuestionWords, phrases: Sequence[LinkedPhrase]) -> list[LinkedPhrase]:
        """Return the phrases that are names but for the spelling of one word; all that a phrase may mean together."""
        linked = {place for anchor in phrases for place in anchor.words}
        spans: dict[tuple[int, int], list[LinkedPhrase]] = {}
        for place, word in enumerate(reading.words):
            if place in linked or word.is_stop or word.text in _NEVER_RESPELLED:
                continue
            corrections = self._speller.corrections(word.text, reading.is_written_as_name(place))
            for other, likeness in corrections.words:
                changed = reading.respelled(place, other, self._vocabulary.stem(other))
                for anchor in self._around(changed, place, alone=corrections.alone):
                    candidates = tuple(Candidate(row, quality * likeness) for row, quality in anchor.candidates)
                    phrase = reading.surface(anchor.first, anchor.last)
                    as_written = replace(anchor, candidates=candidates, phrase=phrase)
                    spans.setdefault((anchor.first, anchor.last), []).append(as_written)
        return [self._merged(anchors) for anchors in spans.values()]

    def _merged(self, anchors: Sequence[LinkedPhrase]) -> LinkedPhrase:
        best = max(anchors, key=lambda anchor: anchor.quality)
        candidates = _near_best(node for anchor in anchors for node in anchor.candidates)
        return replace(best, candidates=candidates, read_as=self._graph.arrays.names[candidates[0].row])

    def _around(self, reading: QuestionWords, place: int, *, alone: bool) -> Iterator[LinkedPhrase]:
        """Return the spans over a place that name a node, only those of several words where it cannot stand alone."""
        for first in range(max(0, place - (_LONGEST if alone else _COMPANY)), place + 1):
            for anchor in self._spans(reading, first):
                content = sum(not word.is_stop for word in reading.words[first : anchor.last])
                if anchor.last > place and (alone or content > 1):
                    yield anchor

    def _spans(self, reading: QuestionWords, first: int) -> Iterator[LinkedPhrase]:
        """Return every span from a word on that names a node."""
        for last in self._reaching(reading, first):
            anchor = self._anchor(reading, first, last)
            if anchor is not None:
                yield anchor

    def _reaching(self, reading: QuestionWords, first: int) -> Iterator[int]:
        """Return the ends of spans that may be names: their words stand together in some node."""
        index, names, rows = self._graph.arrays.text_index, self._graph.arrays.name_index, _NO_ROWS
        for last in range(first + 1, min(len(reading.words), first + _LONGEST) + 1):
            word = reading.words[last - 1]
            posting = self._vocabulary.posting(word.text)
            # Identifiers and symbols are no text: what has digits may stand in one, with what stands before it.
            is_before_code = last < len(reading.words) and reading.words[last].in_code
            if posting is None and not (word.in_code or is_before_code or names.has_word(word.text)):
                if last == first + 1:  # it may be two words of a name
                    yield last
                return
            if posting is not None and not word.is_stop and not word.in_code:
                theirs = index.rows_of(posting)
                if rows is _NO_ROWS or len(theirs) < len(rows) and len(rows) > _LONG and len(theirs) > _LONG:
                    rows = theirs
                elif min(len(rows), len(theirs)) <= _LONG:
                    rows = index.filter_rows(posting, rows)
                if not len(rows):
                    return
            yield last

    def _anchor(self, reading: QuestionWords, first: int, last: int) -> LinkedPhrase | None:
        if not self._may_name(reading, first, last):
            return None
        phrase = reading.folded(first, last)
        links = self._graph.arrays.name_index.links(phrase) or self._parted(reading, first, last)
        if not links:
            return None
        surface, is_quoted = reading.surface(first, last), reading.is_quoted(first, last)
        candidates = list(self._candidates(links, surface, is_quoted=is_quoted))
        is_doubtful = False
        if not is_quoted:
            candidates = self._but_misread(candidates, reading, first, last)
            likely = self._but_coincidence(candidates, reading, first, last)
            is_doubtful, candidates = not likely, likely or candidates
        best = _near_best(candidates)
        if not best:
            return None
        terms = tuple(dict.fromkeys(term for word in phrase for term in self._graph.arrays.tokenizer.expand(word)))
        return LinkedPhrase(first, last, surface, best, terms, is_doubtful=is_doubtful)

    def _parted(self, reading: QuestionWords, first: int, last: int) -> list[Link]:
        """Return what a span names that parts words otherwise than the name: `PRSS-1` and `PRSS 1` for `PRSS1`.

        So it may be with symbols, which have digits, with words joined by hyphens, and with a word that no node has.
        """
        words = reading.words[first:last]
        if len(words) == 1 and words[0].text.isalpha():
            is_symbol = len(words[0].text) >= SHORTEST_SPELLED and self._vocabulary.posting(words[0].text) is None
        else:
            is_symbol = any(not word.text.isalpha() and any(map(str.isdigit, word.text)) for word in words)
            is_symbol |= not any(word.stands_alone for word in words[1:])
        return self._graph.arrays.name_index.parted_links([word.text for word in words]) if is_symbol else []

    def _may_name(self, reading: QuestionWords, first: int, last: int) -> bool:
        if reading.is_quoted(first, last):
            return True
        words = reading.words[first:last]
        if all(word.text.isdigit() for word in words):
            return False
        if words[-1].is_stop and words[-1].stands_alone and not reading.is_written_as_name(last - 1):
            return False
        if all(word.is_stop for word in words):
            return any(reading.is_written_as_name(place) for place in range(first, last))
        if len(words) == 1 and len(words[0].text) == 1:
            return reading.surface(first, last).isupper()
        if self._vocabulary.is_kind(tuple(word.stem for word in words)) and reading.surface(first, last).islower():
            return False
        return not (len(words) == 1 and self._is_spent(reading, first))

    def _is_spent(self, reading: QuestionWords, place: int) -> bool:
        """Return whether a single word asks, is one of the schema's, or stands where the kind of answer is said."""
        word = reading.words[place]
        if reading.is_written_as_name(place):
            return False
        before = reading.words[place - 1].text if place else ""
        asks = word.text in english.ASKING or word.text in english.SUPERLATIVE
        return asks or before in ("which", "what") or word.stem in self._vocabulary.edge_words

    def _but_misread(
        self, candidates: list[Candidate], reading: QuestionWords, first: int, last: int
    ) -> list[Candidate]:
        """Return the candidates that stop words are truly part of: "the doc" is no `the-doc`, "go" no `Go`."""
        words = reading.words[first:last]
        if not (words[0].is_stop or words[-1].is_stop):
            return candidates
        surface, any_case = reading.surface(first, last), not all(word.is_stop for word in words)
        return [node for node in candidates if self._is_written(node.row, surface, any_case=any_case)]

    def _but_coincidence(
        self, candidates: list[Candidate], reading: QuestionWords, first: int, last: int
    ) -> list[Candidate]:
        """Return the candidates without those that are called like a word which texts use far more than edges them."""
        content = [word.text for word in reading.words[first:last] if not word.is_stop]
        is_told = first > 0 and self._vocabulary.is_kind((reading.words[first - 1].stem,))
        if len(content) != 1 or is_told or not reading.surface(first, last).islower():
            return candidates
        posting = self._vocabulary.posting(content[0])
        used = 0 if posting is None else posting.nodes
        degrees = self._graph.arrays.adjacency.degree(np.array([node.row for node in candidates], np.int32)).tolist()
        most = [_COMMONER * (1 + degree) for degree in degrees]
        return [node for node, times in zip(candidates, most, strict=True) if used <= times]

    def _candidates(self, links: Sequence[Link], surface: str, *, is_quoted: bool) -> Iterator[Candidate]:
        for link in links:
            quality = _BY_ALIAS if link.kind is NameKind.ALIAS else 1.0
            if not link.is_exact:
                quality *= _BY_STEM
            if not self._is_written(link.row, surface):
                quality *= _OTHERWISE_WRITTEN
            if surface.islower() and not is_quoted and " " not in surface and self._is_acronym(link, surface):
                posting = self._vocabulary.posting(surface)
                if posting is not None and posting.nodes >= _WORD_OF_TEXTS and surface.isalpha():
                    continue
                quality *= _AS_ACRONYM
            yield Candidate(link.row, quality)

    def _is_written(self, row: int, surface: str, *, any_case: bool = False) -> bool:
        """Return whether a node is called just so, letter for letter."""
        names = (self._graph.arrays.names[row], self._graph.arrays.ids[row], *self._graph.arrays.aliases_at(row))
        if any_case:
            return surface.casefold() in {name.casefold() for name in names}
        return surface in names

    def _is_acronym(self, link: Link, surface: str) -> bool:
        """Return whether a node has this name in capitals, and not also in small letters."""
        names = (self._graph.arrays.names[link.row], *self._graph.arrays.aliases_at(link.row))
        written = [name for name in names if name.casefold() == surface]
        return bool(written) and all(name.isupper() for name in written)


class Corrections(NamedTuple):
    """The words that a mistyped one may stand for, with how likely each is."""

    words: tuple[tuple[str, float], ...] = ()
    alone: bool = True
    """Each may be a name by itself; else only a name of several words bears it out."""


class Speller:
    """Corrects words against the names of one graph."""

    def __init__(self, graph: Graph, vocabulary: SchemaWords) -> None:
        self._graph, self._vocabulary = graph, vocabulary

    @cached_method(4_096)
    def corrections(self, word: str, is_name: bool) -> Corrections:
        """Return what a word may stand for that no node has, or, written as a name (`is_name`), that no name has."""
        if len(word) < _SHORTEST_SPELLED or word.isdigit() or not word.isascii():
            return Corrections()
        posting = self._vocabulary.posting(word)
        is_used = posting is not None and posting.nodes > _RARE
        if (is_used and not is_name) or best_alike(self._vocabulary.stem(word), self._vocabulary.edge_words):
            return Corrections()
        if word.isalpha() and len(word) >= SHORTEST_SPELLED:
            return self._spelled(word)
        return Corrections() if posting is not None or len(word) > _LONGEST_SYMBOL else self._one_edit_away(word)

    def _spelled(self, word: str) -> Corrections:
        others = self._graph.arrays.name_index.spellings(word)
        if not others or word in others:
            return Corrections()
        alike = [letter_likeness(word, other) for other in others]
        return Corrections(
            tuple((other, _LIKELY * likeness / alike[0]) for other, likeness in zip(others, alike, strict=True))
        )

    def _one_edit_away(self, word: str) -> Corrections:
        near = [other for other in dict.fromkeys(_edits(word)) if self._vocabulary.posting(other) is not None]
        if len(near) > _MOST_CORRECTIONS:
            named = [other for other in near if self._graph.arrays.name_index.stem_links([other])]
            near, alone = (named, True) if 0 < len(named) <= _MOST_CORRECTIONS else (near, False)
            return Corrections(tuple((other, _ONE_EDIT) for other in near), alone)
        return Corrections(tuple((other, _ONE_EDIT) for other in near))


def _edits(word: str) -> Iterator[str]:
    """Return the words that one dropped, doubled, swapped or wrong letter turns into this one."""
    letters = _LETTERS if word.isalpha() else _LETTERS + _DIGITS
    for place in range(len(word) + 1):
        for letter in letters:
            yield word[:place] + letter + word[place:]
    for place in range(len(word)):
        yield word[:place] + word[place + 1 :]
        yield word[:place] + word[place + 1 : place + 2] + word[place] + word[place + 2 :]
        for letter in letters:
            yield word[:place] + letter + word[place + 1 :]


_NO_ROWS = np.zeros(0, np.int32)


def _near_best(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates that are nearly as good as the best, best first, each node once."""
    best: dict[int, float] = {}
    for row, quality in candidates:
        best[row] = max(quality, best.get(row, 0.0))
    most = max(best.values(), default=0.0)
    near = [Candidate(row, quality) for row, quality in best.items() if quality >= most - _NEAR_BEST]
    return tuple(sorted(near, key=lambda node: (-node.quality, node.row)))


# The settings of `anchor`. Scores are in units of BM25's idf, so one set of constants serves graphs of any size.


class AnchorConfig(Options):
    """What may be set; the defaults were measured (docs/anchor.md)."""

    most_hops: int = Field(default=3, ge=1)
    """Edges between an anchor and an answer, where the question names the types between."""
    most_nodes_a_phrase: int = Field(default=25, ge=1)
    """A phrase that names more nodes than this names none."""
    connection_weight: float = 1.0
    """Weight of being connected to the anchors."""
    joint_weight: float = 2.5
    """The same where some node of the wanted type is connected to two anchors or more."""
    type_weight: float = 0.4
    """Weight of being of the wanted type, in shares of the question's whole idf."""
    count_weight: float = 0.1
    """Weight of how many nodes lead to a hit."""
    prior_weight: float = Field(default=1.0, ge=0)
    """Weight of a node's edges where no text of the wanted type tells; in shares of the question's whole idf."""
    meaning_weight: float = Field(default=0.3, ge=0)
    """Weight of nearness in meaning where the graph has vectors, in the same shares; with 0 they are not read."""
    reader: str = "rules"
    """Who reads questions as lines: the grammar of rules, or what a package registers as a question reader."""
    spelling: bool = True
    """Correct words that no node has, where a name is spelled nearly so."""


# ======================================================================================================== partial names
# Names of which a question says a part: `Russian River` of "Russian River Brewing Company".

MOST_NAMESAKES = 8  # nodes; words in the names of more name none of them
_LONGEST_PART = 5  # words of a part that is not written as a name
_MOST_SEARCHED = 2_000  # nodes that have all the words somewhere


_NO_NAMES = (
    WORDS["general"]
    | WORDS["no names"]
    | ENGLISH.adjectives.keys()
    | ENGLISH.superlatives.keys()
    | ENGLISH.comparatives.keys()
    | ENGLISH.most.keys()
)
"""Words of English that name nothing, though a name may have one of them: a "fair referee" is no Anna Fair."""


class PartialName(NamedTuple):
    """Words that are a part of the names of some nodes."""

    first: int
    last: int
    rows: tuple[int, ...]


class PartialNames:
    """Finds the nodes of one graph by parts of their names. Safe to share among threads."""

    def __init__(self, graph: Graph) -> None:
        self._arrays = graph.arrays

    def of(self, reading: QuestionWords, covered: set[int]) -> Iterator[PartialName]:
        """Yield the parts of names among words that are written as names, or that are not `covered` by anything."""
        place = 0
        while place < len(reading.words):
            last = place
            while last < len(reading.words) and self._may_be_part(reading, last, covered):
                last += 1
            names = [self._longest(reading, place, last), self._with_covered(reading, place, covered)]
            name = max((name for name in names if name is not None), key=lambda name: name.last, default=None)
            if name is not None:
                yield name
            place = name.last if name is not None else place + 1

    def _longest(self, reading: QuestionWords, first: int, last: int) -> PartialName | None:
        """Return the longest beginning of words that is a part of names; its last word may be their plural."""
        for end in range(last, first, -1):
            if all(word.is_stop for word in reading.words[first:end]):
                return None  # "and" alone is no part of "Knots and Prayers"
            words = reading.folded(first, end)
            rows = self.having(words) or (self.having([*words[:-1], words[-1][:-1]]) if words[-1].endswith("s") else ())
            if rows:
                return PartialName(first, end, rows)
        return None

    def _with_covered(self, reading: QuestionWords, first: int, covered: set[int]) -> PartialName | None:
        """Return the longest part of names that also has words which may be something else: `octave group`."""
        for end in range(min(len(reading.words), first + _LONGEST_PART), first + 1, -1):
            places = range(first, end)
            is_new = any(place not in covered and not reading.words[place].is_stop for place in places)
            if is_new and not reading.words[first].is_stop and not reading.words[end - 1].is_stop:
                rows = self.having(reading.folded(first, end))
                if rows:
                    return PartialName(first, end, rows)
        return None

    def _may_be_part(self, reading: QuestionWords, place: int, covered: set[int]) -> bool:
        word = reading.words[place]
        if reading.is_written_as_name(place) or word.is_quoted:
            return True
        if place not in covered and not word.is_stop and word.text not in _NO_NAMES:
            # who writes "Marta Zielinska at the wheel" would write a name otherwise
            return not any(map(reading.is_written_as_name, range(1, len(reading.words))))
        # "of" in "Bank of England"
        is_inside = 0 < place < len(reading.words) - 1 and len(word.text) <= 3
        behind = range(place + 1, min(len(reading.words), place + 3))
        return is_inside and reading.is_written_as_name(place - 1) and any(map(reading.is_written_as_name, behind))

    def having(self, phrase: Sequence[str]) -> tuple[int, ...]:
        """Return the rows of nodes whose name holds these folded words in a row; none where too many do."""
        rows = named_in_part(self._arrays, phrase, _MOST_SEARCHED)
        return tuple(rows) if len(rows) <= MOST_NAMESAKES else ()


# ========================================================================================================== answer type
# Step 2: what kind of thing the question asks for, and which kinds lie between.
# Likenesses are the prototype's, tuned on GRBench, PKG and DEB (docs/anchor.md, "Constants").

_HEAD, _MODIFIER = 0.6, 0.5  # one word of a type name of several: its last, another
_SURE = 0.65  # a mention that is at least this good may stand between, or beside an anchor
_FIRST, _FIRST_BESIDE_UNKNOWN = 0.75, 0.35  # the first type named anywhere, where the phrase that asks names none
_LEARNED = 0.6  # a type that only texts teach; learning is worth .10 Hit@1 on PKG and .045 on DEB
_BESIDE = 3  # words before a name that may say which of several nodes is meant
_NOT_BESIDE = 0.8  # what is left of a namesake's quality that lacks those words; it stays, for the words may mislead
_LONGEST_PHRASE = 4  # content words that say the kind of answer


class TypeMention(NamedTuple):
    """Words of the question, `first` up to `last`, that name a node type."""

    first: int
    last: int
    type: int
    likeness: float


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the question asks for."""

    types: Mapping[int, float]
    """Node types that the answer may have, with how sure that is; empty where nothing says."""
    via: tuple[int, ...] = ()
    """Node types that are named besides: the way to the answer leads through them."""
    yes_or_no: bool = False
    about: bool = False
    """It asks for nothing but what it names."""
    counts: bool = False
    """It asks how many there are."""
    superlative: bool = False
    """It asks for what has the most of something."""
    said_by: tuple[int, ...] = ()
    """Places of the words that say the kind of answer."""
    kinds_at: frozenset[int] = frozenset()
    """Places of all the words that name types, the types between among them."""


@dataclass(frozen=True, slots=True)
class Understanding:
    """A question as it was understood: its words, what they name, and what it asks for."""

    reading: QuestionWords
    anchors: tuple[LinkedPhrase, ...]
    wanted: Wanted


def understand(
    reading: QuestionWords,
    anchors: tuple[LinkedPhrase, ...],
    graph: Graph,
    vocabulary: SchemaWords,
    *,
    node_types: Sequence[str],
    most_nodes: int,
) -> Understanding:
    """Return a question with its anchors told apart by the types beside them, and what it asks for."""
    named_types = mentions(reading, anchors, vocabulary)
    anchors, named_types = apposed(anchors, named_types, reading, graph)
    anchors = tuple(anchor for anchor in anchors if len(anchor.candidates) <= most_nodes)
    anchors = told_apart(anchors, reading, graph, vocabulary)
    anchors = coordinated(anchors, reading, graph)
    goal = wanted(reading, anchors, named_types, vocabulary)
    if not graph.schema.edges:  # types of a mere collection are forms, such as passage and table
        goal = replace(goal, types={})
    if node_types:
        goal = replace(goal, types=dict.fromkeys(graph.arrays.types.node_numbers(node_types), 1.0))
    named = {place for anchor in anchors for place in anchor.words}
    rest = {word.text for place, word in enumerate(reading.words) if place not in named}
    is_about = len(anchors) == 1 and not goal.types and rest <= english.INTRODUCING
    return Understanding(reading, anchors, replace(goal, about=is_about))


def mentions(reading: QuestionWords, anchors: Sequence[LinkedPhrase], vocabulary: SchemaWords) -> list[TypeMention]:
    """Return the places where node types are named outside of anchors, in order; of adjacent ones the better."""
    taken = {place for anchor in anchors for place in anchor.words}
    free = [place not in taken for place in range(len(reading.words))]
    matches = [
        mention
        for place in range(len(reading.words))
        if free[place]
        for mention in _at(reading, place, free, vocabulary)
    ]
    better: list[TypeMention] = []
    for mention in sorted(matches, key=lambda match: (-match.likeness, -(match.last - match.first), -match.last)):
        beside = [other for other in better if other.first <= mention.last and mention.first <= other.last]
        if all((other.first, other.last) == (mention.first, mention.last) == _span(other) for other in beside):
            better.append(mention)
    return sorted(better)


def _span(mention: TypeMention) -> tuple[int, int]:
    return mention.first, mention.last


def _at(reading: QuestionWords, place: int, free: Sequence[bool], vocabulary: SchemaWords) -> Iterator[TypeMention]:
    for number, labels in enumerate(vocabulary.node_labels):
        best = max((type_likeness(reading, place, free, label, vocabulary) for label in labels), default=(0.0, place))
        if best[0] > 0:
            yield TypeMention(place, best[1], number, best[0])


def type_likeness(
    reading: QuestionWords, place: int, free: Sequence[bool], label: Label, vocabulary: SchemaWords
) -> tuple[float, int]:
    """Return how well the words from a place on name a type, and where they end."""
    stems = label.stems
    last = place + len(stems)
    if last <= len(free) and all(free[place:last]):
        likeness = [_word(reading, place + at, stem, label, vocabulary) for at, stem in enumerate(stems)]
        if min(likeness) > 0:
            return sum(likeness) / len(likeness), last
    if len(stems) == 1 or reading.words[place].is_stop:
        return 0.0, place
    head = _HEAD * _word(reading, place, stems[-1], label, vocabulary)
    modifier = max(_MODIFIER * _word(reading, place, stem, label, vocabulary) for stem in stems[:-1])
    return max(head, modifier), place + 1


def _word(reading: QuestionWords, place: int, stem: str, label: Label, vocabulary: SchemaWords) -> float:
    word = reading.words[place]
    likeness = max(alike(word.stem, stem), float(english.IRREGULAR.get(word.text) in label.words))
    if not likeness and abbreviates(stem, word.stem):
        return ALIKE
    # "maintained" is the edge, not the maintainer; "section" may be both.
    is_edge = word.stem in vocabulary.edge_words if likeness < 1 else word.text in vocabulary.edge_literals
    return 0.0 if is_edge and word.text not in label.words else likeness


def apposed(
    anchors: Sequence[LinkedPhrase], named_types: Sequence[TypeMention], reading: QuestionWords, graph: Graph
) -> tuple[tuple[LinkedPhrase, ...], list[TypeMention]]:
    """Return the anchors cut down to the types named right beside them, and the mentions that are left."""
    left = list(named_types)
    anchors = list(anchors)
    for at, anchor in enumerate(anchors):
        for mention in named_types:
            if mention not in left or mention.likeness < _SURE or not _is_apposed(mention, anchor, reading):
                continue
            of_type = tuple(node for node in anchor.candidates if graph.arrays.node_types[node.row] == mention.type)
            if of_type:
                anchors[at] = anchor = replace(anchor, candidates=of_type)
                left.remove(mention)
    return tuple(anchors), left


def _is_apposed(mention: TypeMention, anchor: LinkedPhrase, reading: QuestionWords) -> bool:
    if mention.first == anchor.last:
        return not reading.words[mention.first].after_comma
    follows_question_word = mention.first > 0 and reading.words[mention.first - 1].text in ("which", "what", "many")
    return mention.last == anchor.first and not follows_question_word and not reading.words[anchor.first].after_comma


def coordinated(anchors: Sequence[LinkedPhrase], reading: QuestionWords, graph: Graph) -> tuple[LinkedPhrase, ...]:
    """Return the anchors with those that are named in one breath cut down to the types they share."""
    anchors = list(anchors)
    for at in range(len(anchors) - 1):
        before, after = anchors[at], anchors[at + 1]
        between = reading.words[before.last : after.first]
        joined = all(word.text in english.JOINING for word in between)
        if not joined or not (between or reading.words[after.first].after_comma):
            continue
        types = [{int(graph.arrays.node_types[node.row]) for node in anchor.candidates} for anchor in (before, after)]
        shared = types[0] & types[1]
        if shared:
            anchors[at : at + 2] = [
                replace(
                    anchor,
                    candidates=tuple(
                        node for node in anchor.candidates if int(graph.arrays.node_types[node.row]) in shared
                    ),
                )
                for anchor in (before, after)
            ]
    return tuple(anchors)


def told_apart(
    anchors: Sequence[LinkedPhrase], reading: QuestionWords, graph: Graph, vocabulary: SchemaWords
) -> tuple[LinkedPhrase, ...]:
    """Return the anchors with those nodes first whose texts have the words right beside: `the city Paris`."""
    return tuple(_told_apart(anchor, reading, graph, vocabulary) for anchor in anchors)


def _told_apart(anchor: LinkedPhrase, reading: QuestionWords, graph: Graph, vocabulary: SchemaWords) -> LinkedPhrase:
    if len(anchor.candidates) == 1:
        return anchor
    beside: list[str] = []
    for place in range(anchor.first - 1, max(-1, anchor.first - 1 - _BESIDE), -1):
        word = reading.words[place]
        if word.is_stop or word.stem in vocabulary.edge_words or reading.words[place + 1].after_comma:
            break
        beside.append(word.text)
    rows = np.array(sorted(node.row for node in anchor.candidates), np.int32)
    having = dict.fromkeys(rows.tolist(), 0)
    for posting in filter(None, map(vocabulary.posting, beside)):
        for row in graph.arrays.text_index.filter_rows(posting, rows).tolist():
            having[row] += 1
    most = max(having.values())
    candidates = [
        Candidate(row, quality if having[row] == most else _NOT_BESIDE * quality) for row, quality in anchor.candidates
    ]
    return replace(anchor, candidates=tuple(sorted(candidates, key=lambda node: (-node.quality, node.row))))


class _Asking(NamedTuple):
    """The phrase that says the kind of answer."""

    places: tuple[int, ...]
    content: tuple[int, ...]
    is_existence: bool = False
    """It follows "is there": without a type it names a connection, as "is there a link between"."""


def wanted(
    reading: QuestionWords, anchors: Sequence[LinkedPhrase], named_types: Sequence[TypeMention], vocabulary: SchemaWords
) -> Wanted:
    """Return what the question asks for, by the phrase that asks, by what texts teach, by the first type named."""
    taken = {place for anchor in anchors for place in anchor.words}
    typed = {place for mention in named_types if mention.likeness == 1 for place in range(mention.first, mention.last)}
    verbs = {at for at, word in enumerate(reading.words) if word.stem in vocabulary.edge_words and at not in typed}
    phrases = [phrase for phrase in _asking(reading, taken, verbs) if phrase.content]
    counts = any(pair in english.COUNTING for pair in zip(*(_texts(reading)[at:] for at in (0, 1)), strict=False))
    superlative = any(
        word.text in english.SUPERLATIVE for place, word in enumerate(reading.words) if place not in taken
    )
    chosen = _named(phrases, named_types, reading)
    types = {mention.type: mention.likeness for mention in chosen}
    said_by = tuple(place for mention in chosen for place in range(mention.first, mention.last))
    if not types:
        phrases = [phrase for phrase in phrases if not phrase.is_existence]
        types, said_by = _learned(phrases, reading, vocabulary)
    if not types and not phrases and _is_denying(reading):
        return Wanted({}, yes_or_no=True)
    if not types and named_types:
        first = [mention for mention in named_types if mention.first == named_types[0].first]
        chosen = first
        factor = _FIRST_BESIDE_UNKNOWN if phrases else _FIRST
        types = {mention.type: factor * mention.likeness for mention in first}
        said_by = tuple(range(first[0].first, first[0].last))
    named = frozenset(
        at for mention in named_types if mention.likeness >= _SURE for at in range(mention.first, mention.last)
    ) | set(said_by)
    via = dict.fromkeys(mention.type for mention in named_types if mention not in chosen and mention.likeness >= _SURE)
    return Wanted(types, tuple(via), counts=counts, superlative=superlative, said_by=said_by, kinds_at=named)


def _is_denying(reading: QuestionWords) -> bool:
    """Return whether a question opens as one does that wants yes or no; "could you ..." is a request."""
    opening = _texts(reading)[:2]
    return len(opening) == 2 and opening[0] in english.DENYING and opening[1] != "you"


def _texts(reading: QuestionWords) -> list[str]:
    return [word.text for word in reading.words]


def _asking(reading: QuestionWords, taken: set[int], verbs: set[int]) -> list[_Asking]:
    """Return the phrases after the words that ask, those after which, what and who first."""
    texts = _texts(reading)
    phrases: list[tuple[int, _Asking]] = []
    for place, text in enumerate(texts):
        before = texts[place - 1] if place else ""
        if (before, text) in english.COUNTING:
            phrases.append((0, _phrase(reading, place + 1, taken, verbs, english.STOP)))
        elif text == "there" and before in ("is", "are"):
            phrase = _phrase(reading, place + 1, taken, verbs, english.STOP)
            phrases.append((2, phrase._replace(is_existence=True)))
        elif text in ("what", "which"):
            skip = english.DETERMINERS | {"is", "are", "was", "were", "s", "of", "kind", "kinds", "other"}
            phrases.append((1, _phrase(reading, place + 1, taken, verbs, skip)))
        elif text in english.ASKING:
            phrases.append((2, _phrase(reading, place + 1, taken, verbs, english.FILLING)))
    return [phrase for _, phrase in sorted(phrases, key=lambda ranked: ranked[0])]


def _phrase(reading: QuestionWords, start: int, taken: set[int], verbs: set[int], skip: Collection[str]) -> _Asking:
    words = reading.words
    while start < len(words) and words[start].text in skip and start not in taken:
        start += 1
    places: list[int] = []
    content: list[int] = []
    for place in range(start, len(words)):
        word = words[place]
        before = words[place - 1].text
        ends = word.text in english.ENDING or (word.text in english.DETERMINERS and before != "of")
        ends |= word.text in english.PRONOUNS and (place + 1 == len(words) or words[place + 1].text != "of")
        ends |= bool(content) and (word.after_comma or word.text in english.SUPERLATIVE or place in verbs)
        if place in taken or ends or len(content) == _LONGEST_PHRASE:
            break
        places.append(place)
        if not word.is_stop and word.text not in english.SUPERLATIVE:
            content.append(place)
    return _Asking(tuple(places), tuple(content))


def _named(phrases: Sequence[_Asking], named_types: Sequence[TypeMention], reading: QuestionWords) -> list[TypeMention]:
    """Return the mentions of the first phrase that holds any: the head, before an "of" where there is one."""
    for phrase in phrases:
        inside = [
            mention for mention in named_types if mention.first in phrase.places and mention.likeness >= _MODIFIER
        ]
        if not inside:
            continue
        of = next((place for place in phrase.places if reading.words[place].text == "of"), len(reading.words))
        pool = [mention for mention in inside if mention.first < of] or inside
        best = max(pool, key=lambda mention: (mention.likeness, -mention.first))
        return [mention for mention in pool if _span(mention) == _span(best)]
    return []


def _learned(
    phrases: Sequence[_Asking], reading: QuestionWords, vocabulary: SchemaWords
) -> tuple[dict[int, float], tuple[int, ...]]:
    """Return the type that texts teach for a word of the phrase that asks."""
    best, place = (0, 0.0), -1
    for phrase in phrases[:1]:
        for at in phrase.content:
            stem = reading.words[at].stem
            learned = None if stem in vocabulary.edge_words else vocabulary.learned(stem)
            if learned is not None and learned[1] > best[1]:
                best, place = learned, at
    return ({best[0]: _LEARNED * best[1]}, (place,)) if best[1] else ({}, ())

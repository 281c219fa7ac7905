"""What a question names: phrases for nodes of the graph (step 1), and the kind of thing that is asked for (step 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from pydantic import Field

from orienteer.graph.names import named_in_part
from orienteer.graph.store import Graph
from orienteer.index.names import SHORTEST_SPELLED, Link, NameKind
from orienteer.options import Options
from orienteer.reading.vocabulary import ENGLISH, WORDS, QuestionWords, SchemaWords, best_alike
from orienteer.remembered import cached_method
from orienteer.retrieval.mentions import letter_likeness
from orienteer.text import english

# =============================================================================================================== linker
# Step 1: the phrases of a question that name nodes of the graph.
# Qualities and bounds are the prototype's, tuned on GRBench, PKG and DEB (docs/explanations/anchor.md, "Constants").

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

    def _respelled(self, reading: QuestionWords, phrases: Sequence[LinkedPhrase]) -> Iterator[LinkedPhrase]:
        """Yield the phrases that are names but for the spelling of one word; all that a phrase may mean together."""
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
        for anchors in spans.values():
            best = _near_best(node for anchor in anchors for node in anchor.candidates)
            likest = max(anchors, key=lambda anchor: anchor.quality)
            yield replace(likest, candidates=best, read_as=self._graph.arrays.names[best[0].row])

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
        if word in others:
            return Corrections()
        alike = [letter_likeness(word, other) for other in others]
        likely = ((other, _LIKELY * one / alike[0]) for other, one in zip(others, alike, strict=True))
        return Corrections(tuple(likely))

    def _one_edit_away(self, word: str) -> Corrections:
        near = [other for other in dict.fromkeys(_edits(word)) if self._vocabulary.posting(other) is not None]
        are_few = len(near) <= _MOST_CORRECTIONS
        named = [] if are_few else [one for one in near if self._graph.arrays.name_index.stem_links([one])]
        are_named = 0 < len(named) <= _MOST_CORRECTIONS
        return Corrections(tuple((one, _ONE_EDIT) for one in (named if are_named else near)), are_few or are_named)


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
    """What may be set; the defaults were measured (docs/explanations/anchor.md)."""

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
    """Who reads questions as lines: `rules`, our grammar, or what a package registers as a question reader."""
    spelling: bool = True
    """Correct words that no node has, where a name is spelled nearly so."""


# ======================================================================================================== partial names
# Names of which a question says a part: `Russian River` of "Russian River Brewing Company".

MOST_NAMESAKES = 8  # nodes; words in the names of more name none of them
_LONGEST_PART = 5  # words of a part that is not written as a name
_MOST_SEARCHED = 2_000  # nodes that have all the words somewhere


_NO_NAMES = WORDS["general"].union(
    *(WORDS["no names"], ENGLISH.adjectives, ENGLISH.superlatives, ENGLISH.comparatives, ENGLISH.most)
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

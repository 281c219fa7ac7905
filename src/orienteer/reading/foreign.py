"""Questions in other languages than English: their words put into those of the grammar, and into their order.

The rules are written in English words. Another language is a file that says what each of its words is there, and how
its words are ordered: `german.toml`. Its graphs' own labels are put alike. A word that no one put stays as it is: if
the graph has no such word either, the question is refused. Where two orders mean two things, neither is answered.
"""

from __future__ import annotations

import re
import threading
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import Stemmer

from orienteer.graph.store import Graph
from orienteer.protocols import Run
from orienteer.reading.linker import AnchorConfig, PhraseLinker
from orienteer.reading.reader import RulesReader
from orienteer.reading.vocabulary import ENGLISH, QuestionWords, SchemaWords, phrases_of
from orienteer.records import Reading, Refusal
from orienteer.remembered import cached_method
from orienteer.retrieval.mentions import Phrase, type_words
from orienteer.text import english
from orienteer.text.tokenizer import Tokenizer, plural
from orienteer.text.units import UNITS

_NOUN_PHRASE = "[DZJ#M]*(?:K+X?|X)(?:CD*X)*"
_TOKEN = re.compile(
    r"\d{4}-\d\d-\d\d|\d[\d.]*,\d+|\d+(?:\.\d{3})+(?!\d)|\d{4}er(?:[ -]Jahren?\b)?|\d+|[^\W\d_][\w-]*|[,;]"
)
_CAPITAL_S = re.compile(r"\b([A-ZÄÖÜ]\w+[^\Ws])s\b(?= )")
_LONGEST = 4  # words of a phrase
_MOST_LANGUAGES = 8
_SHORTEST = 3  # letters of a part of a word
_MOST_ORDERS = 4  # that are read of one question
_TURNS = 3  # times that one rule is tried
_SURE = 0.2  # cost of a name that is found in the question as it stands
_NO_ENGLISH = frozenset[str]().union(*english.LANGUAGES.values()) - english.STOP
_ENDINGS = ("", "e", "en", "er", "es", "em")
"""Of adjectives."""


class _Word(NamedTuple):
    """A word as it is put."""

    letter: str
    text: str
    bare: str = ""
    """The form of a verb behind `did`."""
    past: str = ""
    """Its past, where it may be a participle, too."""
    written: str = ""
    """As it is in the question, folded."""


class _Put(NamedTuple):
    """A question in the words of the grammar, in each order that it may mean; or the words that nobody put."""

    texts: tuple[str, ...]
    unknown: tuple[str, ...] = ()


class Foreign:
    """A language whose words are put into those of the grammar. Safe to share among threads."""

    def __init__(self, file: Path) -> None:
        """Read a file of words; its name is the language as stemmers call it."""
        known: dict[str, Any] = defaultdict(dict, tomllib.loads(file.read_text(encoding="utf-8")))
        self.name = file.stem
        self._stemmer, self._lock = Stemmer.Stemmer(self.name), threading.Lock()
        self.told: dict[str, _Word] = {}
        """Words and phrases as they are put."""
        self._nouns: dict[str, _Word] = {}
        self._verbs: dict[str, _Word] = {}
        for letter, entries in known["words"].items():
            for text, phrases in entries.items():
                self._add(phrases_of(phrases), _Word(letter, text), by_stem=letter == "K")
                for ending, women in (("in", text), ("innen", plural(text))) if letter == "K" else ():
                    self._add((form + ending for form in phrases_of(phrases)), _Word(letter, women))
        self._functions = frozenset(form for form, word in self.told.items() if word.letter != "K")
        for text, forms in known["adjectives"].items():
            meanings = [(one, *ENGLISH.grades[one]) for one in text.split("/")]
            grades = zip(forms.split(), map("/".join, zip(*meanings, strict=True)), strict=True)
            for bare, grade in reversed(list(grades)):  # "länger" is no ending of "lang"
                declined = [form + end for form in bare.split("/") for end in _ENDINGS]
                self._add(declined, _Word("J", grade))
                for place, prefix in known["places"].items():  # "zweitlängste"
                    ranked = "/".join(f"{place} {one}" for one in grade.split("/"))
                    self._add(map(prefix.__add__, declined), _Word("J", ranked))
        for section, letter in (("verbs", "P"), ("verbs-of-being", "I")):
            for bare, forms in known[section].items():
                self._add_verb(bare, forms, letter)
        self._apart = [
            (words.split(), place, _Word(letter, ENGLISH.forms_of(bare)[letter == "P"], bare))
            for section, letter, place in (("apart", "V", 0), ("apart-done", "P", -1))
            for bare, phrases in known[section].items()
            for words in phrases_of(phrases)
        ]
        self._before_numbers, self._articles = known["before-numbers"], known["articles"]
        self._order = [
            (re.compile(rule["from"].replace("NP", _NOUN_PHRASE)), [order.split() for order in rule["to"]])
            for rule in known["order"]
        ]

    def _add_verb(self, bare: str, forms: str, letter: str) -> None:
        past, participle = ENGLISH.forms_of(bare)
        finite, done = (part.split() for part in forms.split("|"))
        for form in finite:
            is_one = past.startswith("were ") and not form.endswith("en")
            self._add([form], _Word("V", f"was{past.removeprefix('were')}" if is_one else past, bare), by_stem=True)
        for form in done:
            self.told[form.casefold()] = _Word(
                "E" if form in finite else letter, participle, bare, self.told[form].text if form in finite else past
            )

    def _add(self, forms: Iterable[str], word: _Word, *, by_stem: bool = False) -> None:
        for form in map(str.casefold, forms):
            self.told.setdefault(form, word)
            if by_stem:
                (self._nouns if word.letter == "K" else self._verbs).setdefault(self.stem(form), word)

    def stem(self, word: str) -> str:
        """Return the stem of a word."""
        with self._lock:  # a stemmer keeps state
            return str(self._stemmer.stemWord(word))

    def is_of(self, text: str) -> bool:
        """Return whether a question is in this language, by its words that name nothing; a tie is English."""
        first, *others = text.split() or [""]
        words = Tokenizer.words(" ".join((first, *(word for word in others if not word[:1].isupper()))))  # no names
        opening = self.told.get(words[0]) if words else None
        own = sum(word in self._functions for word in words) + (opening is not None and opening.letter in "VE")
        return own > sum(word in english.STOP for word in words)

    def is_told(self, words: Iterable[str]) -> bool:
        """Return whether more of the words of a graph are of this language than of English."""
        words = list(words)
        return sum(self.word(word) is not None for word in words) > sum(word in ENGLISH.vocabulary for word in words)

    def word(self, text: str, *, is_label: bool = False) -> _Word | None:
        """Return the English words for a word, by itself, by its stem or by its parts; None if the file has none.

        A type is called by one of its nodes, whatever the number in its label is.
        """
        folded = text.casefold()
        for form in dict.fromkeys((folded, folded.replace("ae", "ä").replace("oe", "ö").replace("ue", "ü"))):
            told, noun = self.told.get(form), self._nouns.get(self.stem(form))
            is_noun = noun is not None and (told is None or (text[0].isupper() and told.letter != "K"))
            if noun is not None and is_noun:  # "Sprachen" are no "sprachen"
                return noun if is_label or form.endswith("s") else noun._replace(text=plural(noun.text))
            if told is not None or self.stem(form) in self._verbs:
                return told or self._verbs[self.stem(form)]
        return self._compound(folded)

    def _compound(self, form: str) -> _Word | None:
        """Return the English words for a noun that is made of two."""
        for cut in range(_SHORTEST, len(form) - _SHORTEST + 1):
            tail = self._nouns.get(self.stem(form[cut:]))
            parts = [form[:cut], *(form[:cut].removesuffix(link) for link in ("s", "es", "n", "en"))]
            head = next(filter(None, map(self._nouns.get, map(self.stem, parts))), None)
            if head is not None and tail is not None:
                return _Word("K", f"{head.text} {tail.text}")
        return None

    def label(self, label: str) -> str:
        """Return a label of a graph in the words of the grammar."""
        put = []
        for word in label.split():  # a word that may be a verb gets an ending by which the grammar knows one
            own = f"{self.stem(word)}ed" if word.endswith(("t", "te")) else word
            put.append((self.word(word, is_label=True) or _Word("U", own))._replace(written=word))
        return " ".join(word.text for word in _with_agents(self._joined_again(put), is_label=True) if word.text)

    def put(self, text: str, names: Sequence[tuple[int, int]], own: Mapping[str, str]) -> _Put:
        """Return a question in the words of the grammar.

        `names` are the characters of names, which stay as they are; `own` has the words of a graph by their stems.
        """
        words = _with_agents(self._joined_again(list(self._words(text, names, own))))
        # "noch" alone says "still"
        alone = set() if any(word.text == "neither" for word in words) else {"nor"}
        unknown = tuple(word.text for word in words if word.letter == "?" or word.text in alone)
        if unknown:
            return _Put((), unknown)
        orders = [_with_relatives(words, self._articles)]
        for pattern, templates in self._order:
            for _ in range(_TURNS):
                turned = [new for old in orders for new in _turned(old, pattern, templates)]
                if turned == orders:
                    break
                orders = turned[:_MOST_ORDERS]
        return _Put(tuple(dict.fromkeys(text for order in orders for text in _texts(order))))

    def _words(self, text: str, names: Sequence[tuple[int, int]], own: Mapping[str, str]) -> Iterator[_Word]:
        """Yield each word or phrase as it is put, without regard to the others."""
        place = 0
        for first, last in (*names, (len(text), len(text))):
            written = _TOKEN.findall(text[place:first])
            folded, at = list(map(str.casefold, written)), 0
            while at < len(written):
                length = next((n for n in range(_LONGEST, 1, -1) if " ".join(folded[at : at + n]) in self.told), 1)
                phrase = self.told.get(" ".join(folded[at : at + length])) if length > 1 else None
                yield (phrase or self._word_or_own(written[at], own))._replace(written=folded[at])
                at += length
            has_s = text[last : last + 2] in ("'s", "’s")
            if last > first:
                yield _Word("D", f"{text[first:last]}'s") if has_s else _Word("X", text[first:last])
            place = last + 2 * has_s

    def _word_or_own(self, written: str, own: Mapping[str, str]) -> _Word:
        if written[0].isdigit():
            return _Word("#", _number(written))
        if written in ",;" or written in UNITS:
            return _Word("," if written in ",;" else "K", written)
        known = own.get(self.stem(written.casefold()), "")
        verb = "" if written[0].isupper() else known.removesuffix("ed")
        return self.word(written) or (_Word("E" if verb else "K", known, verb, known) if known else _Word("?", written))

    def _joined_again(self, words: list[_Word]) -> list[_Word]:
        """Return words with those in one that stand apart: `laufen X an`; and prepositions before numbers."""
        for parts, main, verb in self._apart:
            places, at = list[int](), 0
            for part in parts:
                at = next((place for place in range(at, len(words)) if words[place].written == part), len(words)) + 1
                places.append(at - 1)
            if places[-1] < len(words):
                if words[places[main]].letter != "Q":  # "list all ships"
                    words[places[main]] = verb
                words = [word for place, word in enumerate(words) if place == places[main] or place not in places]
        for place, (word, after) in enumerate(pairwise(words)):
            if after.letter == "#":
                text = next((text for text, said in self._before_numbers.items() if said == word.written), word.text)
                words[place] = word._replace(text=text)
            elif after.letter == "J" and word.letter == "B" and after.text.split("/")[0] in ENGLISH.superlatives:
                words[place] = word._replace(letter="D", text="the")  # "am längsten"
        return words


def _with_agents(words: list[_Word], *, is_label: bool = False) -> list[_Word]:
    """Return words in which participles are told from verbs, and `von` by whom something is from whose it is."""
    is_done = is_label or any(word.letter in "AH" for word in words)
    for place, word in enumerate(words):
        if word.letter == "E":
            words[place] = word._replace(letter="P") if is_done else word._replace(letter="V", text=word.past)
    letters = "".join(word.letter for word in words)
    for place, word in enumerate(words):
        has_doer = "P" in letters if is_label else re.match("[QT]|[^AHV,]*P", letters[place + 1 :])
        if word.text == "by" and not has_doer:
            words[place] = word._replace(text="of")
    return words


def _with_relatives(words: list[_Word], articles: Mapping[str, str]) -> list[_Word]:
    """Return words in which articles are told from relative pronouns and genitives, and years have a preposition."""
    put: list[_Word] = []
    is_open = words[-1].letter in "AHV"
    for place, word in enumerate(words):
        before = put[-1].letter if put else "^"
        behind_comma = place > 0 and words[place - 1].letter == ","
        behind_preposition = place > 1 and before == "B" and words[place - 2].letter == ","
        if word.written in articles.get("whose", "").split() and behind_comma:
            put[-1] = _Word("G", "whose")
        elif word.letter in "DQST" and word.text in ("the", "which") and behind_comma:
            put[-1] = _Word("R", "that")
        elif is_open and before == "K" and word.written in articles.get("relative", "").split():
            put.append(_Word("R", "that"))  # whoever asks leaves out the comma
        elif word.letter == "D" and word.text == "the" and behind_preposition:
            del put[-2]
            put.append(_Word("R", "which"))
        elif word.text == "a" and before == "M":
            put.append(_Word("#", "one"))  # more than one
        elif word.written in articles.get("genitive", "").split() and before in "KX":
            put += [_Word("B", "of"), word]
        elif word.letter == "#" and re.fullmatch("[12][0-9]{3}", word.text) and before in "AHVPX":
            put += [_Word("B", "in"), word]
        elif word.text:
            put.append(word)
    return put


def _turned(words: list[_Word], pattern: re.Pattern[str], templates: list[list[str]]) -> list[list[_Word]]:
    """Return words in the orders that a rule gives them; as they are where it does not hold."""
    match = pattern.search("".join(word.letter for word in words))
    if match is None:
        return [words]
    groups = [words[slice(*match.span(number))] for number in range(1, pattern.groups + 1)]
    before, behind = words[: match.start()], words[match.end() :]
    return [[*before, *(word for part in template for word in _part(part, groups)), *behind] for template in templates]


def _part(part: str, groups: list[list[_Word]]) -> list[_Word]:
    """Return the words of a part of a template: what is moved once is no verb for the rules behind."""
    if not part[0].isdigit():
        return [_Word("O", part)]
    group = groups[int(part[0]) - 1]
    if part[1:] or (len(group) == 1 and group[0].letter in "AHVPI"):
        return [word._replace(text=part[1:] and word.bare or word.text, letter="O") for word in group]
    return group


def _texts(words: Sequence[_Word]) -> Iterator[str]:
    """Yield what words say together, with each of two meanings of one."""
    for choice in (0, -1):
        text = " ".join(word.text.split("/")[choice] if word.letter == "J" else word.text for word in words)
        text = text.replace(" ,", ",").replace(" to to ", " to ")
        yield re.sub(r"\bdid (.*?)\bbe (\w+)", r"was \1\2", text)  # "when did X be born"


def _number(written: str) -> str:
    if "er" in written:
        return f"{written[:4]}s"
    return written if "-" in written else written.replace(".", "").replace(",", ".")


@cache
def foreign_languages() -> tuple[Foreign, ...]:
    """Return the languages of which there are files."""
    files = sorted(Path(__file__).parent.glob("*.toml"))
    return tuple(Foreign(file) for file in files if file.name != "vocabulary.toml")


class _PutWords(SchemaWords):
    """The words of a graph's types, as a language puts them if they are of it; none is taken for a mistyped one."""

    def __init__(self, graph: Graph, language: Foreign) -> None:
        labels = (label for name in _labels(graph) for label in type_words(name, graph.arrays.tokenizer))
        self._language = language if language.is_told(labels) else None
        super().__init__(graph)

    def split(self, label: str) -> list[Phrase]:
        """Return the words of a label, in the words of the grammar if it is of the language."""
        parts, language = super().split(label), self._language
        if language is None:
            return parts
        return [tuple(Tokenizer.words(language.label(" ".join(words)))) for words in parts]

    def corrected(self, reading: QuestionWords, *, right: Collection[str] = ()) -> QuestionWords:
        """Return the words as they are."""
        return reading


def _labels(graph: Graph) -> Iterator[str]:
    for name in (*graph.arrays.types.nodes, *graph.arrays.types.edges):
        yield from (graph.schema.label(name), *graph.schema.also_called.get(name, ()))
    yield from graph.arrays.properties.names


class ForeignReader:
    """Reads the questions of one language about one graph by the rules. Safe to share among threads."""

    def __init__(self, graph: Graph, language: Foreign) -> None:
        self._language, self._arrays = language, graph.arrays
        self._vocabulary = vocabulary = _PutWords(graph, language)
        linker = PhraseLinker(graph, vocabulary, AnchorConfig(spelling=False))
        self._reader = RulesReader(graph, vocabulary, linker)
        self._own = {
            language.stem(form): " ".join(put)
            for name in _labels(graph)
            for word in type_words(name, graph.arrays.tokenizer)
            for form in (word, f"{word.removesuffix('t')}en")  # "befehligen" of "befehligt"
            for put in vocabulary.split(word)
        }

    def read(self, question: str, run: Run | None = None) -> Reading | Refusal:
        """Return the line that a question says; a refusal where some word of it is not understood. No call is made."""
        question = _CAPITAL_S.sub(self._genitive, question)
        texts, unknown = self._language.put(question, self._names(question), self._own)
        if unknown:
            told = ", ".join(map(repr, unknown))
            return Refusal(kind="not_understood", words=unknown, text=f"not understood: {told}")
        read = [(text, self._reader.read(text, run)) for text in texts]
        meant = {one.text: (text, one) for text, one in reversed(read) if isinstance(one, Reading)}
        if len(meant) > 1:
            told = " or ".join(repr(text) for text, _ in meant.values())
            return Refusal(kind="unsupported", text=f"it may mean two things: {told}")
        for text, reading in meant.values():
            return reading.model_copy(update={"notes": (*reading.notes, f"translated as {text!r}")})
        return read[0][1]

    def _is_name(self, reading: QuestionWords, place: int) -> bool:
        """Return whether a word is rather a name than what it says: the city of Essen; a film is none called `Film`."""
        word = self._language.told.get(reading.words[place].text)
        return word is None or (reading.surface(place, place + 1)[0].isupper() and word.text not in self._own.values())

    def _genitive(self, match: re.Match[str]) -> str:
        """Return a name with an apostrophe before the ending of its genitive: `Niklaus Wirths`."""
        words = f"{match.string[: match.start()]}{match[1]}".split()
        is_name = any(self._arrays.name_index.called(" ".join(words[-length:])) for length in range(1, _LONGEST))
        return f"{match[1]}'s" if is_name and not self._arrays.name_index.called(match[0]) else match[0]

    def _names(self, question: str) -> list[tuple[int, int]]:
        """Return where names and values of the graph stand in a question, the longest first and none within another."""
        reading = self._vocabulary.read(question)
        units, _ = self._reader.lexicon.units(reading)
        spans = [
            (unit.last - place, place)
            for found in (units.names, units.values)
            for place, own in found.items()
            for unit in own
            if unit.cost <= _SURE and (unit.last - place > 1 or self._is_name(reading, place))
        ]
        taken: dict[int, tuple[int, int]] = {}
        for length, place in sorted(spans, key=lambda span: (-span[0], span[1])):
            if taken.keys().isdisjoint(range(place, place + length)):
                taken |= dict.fromkeys(range(place, place + length), (place, length))
        return [
            (reading.words[place].start, reading.words[place + length - 1].end)
            for place, length in sorted(set(taken.values()))
        ]


class EveryLanguage:
    """Reads questions about one graph by the rules, in whichever of our languages. Safe to share among threads."""

    name = RulesReader.name

    def __init__(self, graph: Graph, reader: RulesReader) -> None:
        self._graph, self._reader, self.lexicon = graph, reader, reader.lexicon

    def read(self, question: str, run: Run | None = None) -> Reading | Refusal:
        """Return the line that a question says; a refusal where some word of it is not understood. No call is made."""
        words = Tokenizer.words(question)  # of one that is English the files need not be read
        is_english = ENGLISH.opening.issuperset(words[:1]) and _NO_ENGLISH.isdisjoint(words)
        language = None if is_english else next((one for one in foreign_languages() if one.is_of(question)), None)
        return (self._reader if language is None else self._of(language)).read(question, run)

    @cached_method(_MOST_LANGUAGES)
    def _of(self, language: Foreign) -> ForeignReader:
        return ForeignReader(self._graph, language)

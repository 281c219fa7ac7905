"""A model reads the first passages and answers by the numbers of their sentences; the program believes it after checks.

    "[1] Ferries > Fares        {"sentences": ["1.1"], "answer": "4 crowns",
    [1.1] A bicycle costs ..."    "lacks": "", "search": []}

Where something is lacking, the model's own lines are searched for, and it reads once more. What is believed: each
sentence exists, and the numbers and names of the answer stand in those sentences, above them, or in the question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, NamedTuple, TypeAlias

from orienteer.display import counted
from orienteer.errors import BudgetExhausted, ModelError
from orienteer.graph.reserved import DOCUMENT, SEPARATOR
from orienteer.graph.store import Graph
from orienteer.llm.conversation import ask, begin, prompt_of, recorded_by
from orienteer.methods.documents.abstention import IDENTIFIER, DocumentsConfig, Passage, QuestionTerms
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Citation, JsonValue, Question, Ranked, Refusal, Result, Sampling, Trajectory
from orienteer.retrieval.expansion.relations import in_turns
from orienteer.retrieval.graph_text import LONGEST, TextPiece, place_in
from orienteer.text.english import LANGUAGES, NO_NAMES, language_words
from orienteer.text.numbers import numbers_in, spelled_numbers
from orienteer.text.sentences import one_line, single_spaced, split
from orienteer.text.tokenizer import Tokenizer

Rank: TypeAlias = Callable[[str, int], Result]
"""Ranks that many passages for a line."""
WEAK = 0.25
"""Share of a question that the best passage has, below which lines to search for are asked for first."""
_STRINGS = {"type": "array", "items": {"type": "string"}}


def _object(**properties: object) -> dict[str, Any]:  # Any: a JSON schema
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


READ_SCHEMA = _object(
    sentences=_STRINGS, answer={"type": ["string", "null"]}, lacks={"type": "string"}, search=_STRINGS
)
SEARCH_SCHEMA = _object(search=_STRINGS)
_PACKAGE = "orienteer.methods.documents"
_SENTENCE = re.compile(r"\[?([0-9]{1,3})\.([0-9]{1,5})\]?")
_MARK = re.compile(r"\[(\d+\.\d+)\]")  # as the prompt numbers sentences
_PASSAGE = 2_000  # characters of a passage; beyond them the sentences around the words of the lines
_LINE = 1_000  # characters of a sentence
_ABOVE = 300  # characters of a title, a header, or what is lacking
_TITLES = 600  # characters of titles
_FEW = 20  # documents whose titles are told
_MOST_LINES = 4
_MOST_CITED = 12
_LONGEST_LINE = 200  # characters
_LONGEST_ANSWER = 4_000  # characters
_OWN = frozenset({"file", "document", "heading"})  # properties of a passage in words that say nothing of its document
_WORD = re.compile(r"[^\W_](?:[\w.'’/:+-]*\w)?")
_YES_NO = ("yes", "no", "ja", "nein", "oui", "non", "sí", "si", "sì", "sim", "não", "nee", "nej", "tak", "nie")
_FUNCTIONS = NO_NAMES.union(_YES_NO, *LANGUAGES.values())


class CitedSentence(NamedTuple):
    """A sentence or row that an answer rests on."""

    passage: Passage
    piece: TextPiece


class Shown:
    """Passages as a prompt shows them, each sentence with a number that no text of theirs can feign."""

    def __init__(self, graph: Graph, terms: QuestionTerms, rows: Sequence[int]) -> None:
        self._graph, self._terms = graph, terms
        self.rows = tuple(rows)
        self._passages = [Passage(terms, row) for row in rows]

    @property
    def text(self) -> str:
        """The passages, a line for each title, header and sentence."""
        return "\n".join(line for number in range(len(self.rows)) for line in self._lines(number))

    def _lines(self, number: int) -> Iterator[str]:
        passage = self._passages[number]
        yield f"[{number + 1}] {_harmless(self._title(number, but_in=passage.text), _ABOVE)}"
        if passage.above.strip():
            yield f"    {_harmless(passage.above, _ABOVE)}"
        for place in self._read(passage):
            piece = passage.sentences[place].piece
            yield f"[{number + 1}.{place + 1}] {_harmless(passage.text[piece.begin : piece.end], _LINE)}"

    def _title(self, number: int, *, but_in: str = "") -> str:
        """Return a passage's title, its file's name and what is known of its document: a mail's sender and date.

        What stands in the text `but_in` is left out.
        """
        row = self.rows[number]
        title, properties = self._graph.arrays.names[row], self._graph.arrays.properties.of(row)
        file = PurePosixPath(str(properties.get("file", ""))).name
        words = {name: value for name, value in properties.items() if name not in _OWN and isinstance(value, str)}
        own = (f"{name}: {value}" for name, value in words.items() if value not in but_in)
        return "; ".join((f"{title} ({file})" if file and file not in title else title, *own))

    def _read(self, passage: Passage) -> list[int]:
        """Return the places of the sentences that are shown: all, or those around the words of the question."""
        sizes = [min(_LINE, piece.end - piece.begin) for piece, *_ in passage.sentences]
        filled = [place for place, size in enumerate(sizes) if size]
        if sum(sizes) <= _PASSAGE:
            return filled
        weight = self._terms.terms.weight
        weights = [weight(piece.terms) for piece, *_ in passage.sentences]
        near = {at: weights[at] + sum(weights[max(0, at - 1) : at + 2]) / 2 for at in filled}
        kept, room = list[int](), _PASSAGE
        for place in sorted(filled, key=lambda at: (-near[at], at)):
            if sizes[place] <= room:
                kept.append(place)
                room -= sizes[place]
        return sorted(kept)

    def sentence(self, number: str) -> CitedSentence | None:
        """Return the sentence of a number such as `3.2`; None if there is none."""
        match = _SENTENCE.fullmatch(number.strip())
        if match is None or not 1 <= int(match[1]) <= len(self.rows):
            return None
        passage, place = self._passages[int(match[1]) - 1], int(match[2]) - 1
        if place not in self._read(passage):
            return None
        return CitedSentence(passage, passage.sentences[place].piece)

    def context(self, cited: Sequence[CitedSentence]) -> str:
        """Return the words that an answer may have: of the sentences, their titles, and their tables' headers."""
        titles = {passage.row: self._title(self.rows.index(passage.row)) for passage, _ in cited}
        parts = [(passage.above, passage.text[piece.begin : piece.end]) for passage, piece in cited]
        return "\n".join((*titles.values(), *(text for part in parts for text in part)))

    def faults(self, reply: Mapping[str, Any], question: str) -> list[str]:  # Any: fits READ_SCHEMA
        """Return why a reply is not believed; nothing if it answers nothing."""
        answer, numbers = reply["answer"], reply["sentences"]
        if not (answer or "").strip():
            return []
        if len(answer) > _LONGEST_ANSWER:
            return [f"the answer has {len(answer):,} characters, more than {_LONGEST_ANSWER:,}"]
        if unknown := [number for number in numbers if self.sentence(number) is None]:
            return [f"no such sentence: {', '.join(one_line(number, 20) for number in unknown[:_MOST_CITED])}"]
        if not numbers:
            return ["an answer must name the sentences that it rests on"]
        cited = [found for number in numbers if (found := self.sentence(number)) is not None]
        around = "\n".join(passage.text for passage in self._passages)
        missing = unsupported(answer, self.context(cited), question, around)
        return [f"not in the sentences that it names: {', '.join(missing)}"] if missing else []


def _harmless(text: str, longest: int) -> str:
    """Return a text on one line that has none of the prompt's marks."""
    return _MARK.sub(r"(\1)", one_line(single_spaced(text), longest))


def unsupported(answer: str, context: str, question: str, around: str) -> list[str]:
    """Return the numbers and names of an answer that neither its context nor the question has.

    `context` are the sentences that it rests on, with what is above them; `around` is all that the model was shown.
    Names are words with a capital or written as identifiers. Capitals say nothing in German, and none at the beginning
    of a sentence if the answer is in another language than the documents.
    """
    held = f"{context}\n{question}"
    numbers = numbers_in(held) | numbers_in(held, spaced=True) | spelled_numbers(context, question, around)
    spelled = spelled_numbers(answer, question)
    missing = min((numbers_in(answer, spaced=spaced) - numbers for spaced in (False, True)), key=len)
    missing |= spelled - numbers
    language = language_words(Tokenizer.words(f"{question} {answer}"))
    has_capitals = language is not LANGUAGES["de"]
    is_own = language in (language_words(Tokenizer.words(around)), frozenset())
    known = {part for word in Tokenizer.words(held) for part in (word, word.removesuffix("s"))}
    names = _names(answer, has_capitals=has_capitals, has_begins=is_own)
    unknown = (name for name in names if not known.issuperset(_folded(name)))
    return [*sorted(missing), *dict.fromkeys(one_line(name, 60) for name in unknown)]


def _folded(name: str) -> set[str]:
    return {word if len(word) < 3 else word.removesuffix("s") for word in Tokenizer.words(re.sub(r"['’]s?$", "", name))}


def _names(text: str, *, has_capitals: bool, has_begins: bool) -> Iterator[str]:
    """Yield the names and identifiers of a text, those at the beginning of a sentence only with `has_begins`."""
    for sentence in split(text):
        words = _WORD.findall(sentence)
        for place, word in enumerate(words):
            is_capital = has_capitals and word[0].isupper() and word.casefold() not in _FUNCTIONS
            if is_capital and (place or has_begins) or (IDENTIFIER.fullmatch(word) and not word[0].isdigit()):
                yield word


@dataclass(frozen=True)
class ModelAnswer:
    """What came of the readings of a question."""

    answer: str | None = None
    cited: tuple[CitedSentence, ...] = ()
    lacks: str = ""
    searched: tuple[str, ...] = ()
    """The lines that were searched for."""
    hits: tuple[Ranked, ...] = ()
    """The passages that were read, those cited first."""
    trajectories: tuple[Trajectory, ...] = ()
    failure: str | None = None
    """Why the model was not heard, if it was not; None once a reply was read."""
    is_whole: bool = True
    """Whether neither budget nor model cut the readings short."""


@dataclass
class ModelReading:
    """One question, read by a model."""

    graph: Graph
    model: LanguageModel
    config: DocumentsConfig
    question: Question
    terms: QuestionTerms
    rank: Rank
    run: Run
    searched: list[str] = field(default_factory=list)
    trajectories: list[Trajectory] = field(default_factory=list)

    def answered(self, ranked: Sequence[Ranked], held: float) -> ModelAnswer:
        """Return what a model answers from the first of these passages, or from what it searches for itself."""
        listed = list(ranked)
        if self.config.searches_first or not listed or held < WEAK or self._is_foreign(listed):
            try:
                listed = self._found(self._lines(self._searches(listed), _MOST_LINES), listed)
            except (BudgetExhausted, ModelError) as failed:  # the budget may have room for a reading
                self.trajectories += recorded_by(failed)
                if isinstance(failed, ModelError) or not listed:
                    return self._done(ModelAnswer(failure=str(failed), is_whole=False))
        if not listed:
            return self._done(ModelAnswer(lacks="no passage has its words"))
        return self._done(self._readings(listed))

    def _readings(self, listed: Sequence[Ranked]) -> ModelAnswer:
        """Read the first passages, and search and read again while something is lacking."""
        most, best, seen = self.config.passages, ModelAnswer(), set[str]()
        run, hits = self.run.final(), list(listed[: self.config.passages])
        for turn in range(self.config.readings):
            self.run.tell(f"reading {counted(len(hits), 'passage')}")
            seen.update(hit.id for hit in hits)
            try:
                read, lines = self._read(hits, run if not turn else self.run)
            except (BudgetExhausted, ModelError) as failed:
                self.trajectories += recorded_by(failed)
                return replace(best, failure=None if turn else str(failed), is_whole=False)
            if turn and read.failure is not None:
                break  # what was read before stands
            best = read if best.answer is None or read.answer is not None else best
            lines = self._lines(lines, _MOST_LINES - 1) if turn + 1 < self.config.readings else []
            if read.failure is not None or not read.lacks or not lines:
                break
            cited = {passage.row for passage, _ in read.cited}
            kept = [hit for hit in read.hits if self.graph.arrays.row(hit.id) in cited][: most // 2]
            fresh = [hit for hit in self._found(lines, ()) if hit.id not in seen]
            if not fresh:
                break
            hits = [*kept, *fresh][:most]
        return best

    def _done(self, answer: ModelAnswer) -> ModelAnswer:
        return replace(answer, searched=tuple(self.searched), trajectories=tuple(self.trajectories))

    def _lines(self, lines: Sequence[str], most: int) -> list[str]:
        """Return the first lines to search for that were not searched for."""
        said = {single_spaced(self.question.text).casefold(), *(line.casefold() for line in self.searched)}
        clean = dict.fromkeys(one_line(single_spaced(line), _LONGEST_LINE) for line in lines)
        return [line for line in clean if line and line.casefold() not in said][:most]

    def _found(self, lines: Sequence[str], listed: Sequence[Ranked]) -> list[Ranked]:
        """Return the passages of each line in turns, and of a list; each once."""
        if lines:
            self.run.tell(f"searching: {'; '.join(lines)}")
            self.searched += lines
        rankings = [self.rank(line, self.config.passages) for line in lines]
        self.trajectories += (record for ranking in rankings for record in ranking.trajectories)
        found = dict[str, Ranked]()
        for hit in in_turns(*(one.hits for one in rankings), listed):
            found.setdefault(hit.id, hit)
        return list(found.values())

    def _is_foreign(self, hits: Sequence[Ranked]) -> bool:
        """Return whether the question is in another language than all of the first passages."""
        texts = [self.graph.arrays.texts[self.graph.arrays.row(hit.id)] for hit in hits[: self.config.passages]]
        language = language_words(Tokenizer.words(self.question.text))
        others = {language_words(Tokenizer.words(text)) for text in texts} - {frozenset()}
        return bool(language and others) and language not in others

    # ---------------------------------------------------------------------------------------------------- two requests
    def _asked(
        self, prompt: str, schema: Mapping[str, Any], run: Run, check: Any = None, **values: str
    ) -> dict[str, Any] | None:  # Any: JSON
        begun = begin(
            self.model,
            prompt_of(prompt, _PACKAGE),
            {**values, "question": single_spaced(self.question.text)},
            question=self.question,
            method="documents",
            sampling=Sampling(temperature=0.0, random_seed=self.run.random_seed),
        )
        exchange = ask(self.model, run, begun, schema=schema, check=check, agent=None)
        self.trajectories.append(exchange.trajectory)
        return exchange.value

    def _searches(self, hits: Sequence[Ranked]) -> list[str]:
        """Return the lines that a model searches for, told some titles of the documents."""
        arrays = self.graph.arrays
        titles = [hit.name.partition(SEPARATOR)[0] for hit in hits]
        documents = arrays.mask([DOCUMENT]) if DOCUMENT in arrays.types.nodes else None
        titles += [arrays.names[row] for row in (() if documents is None else documents.nonzero()[0][:_FEW].tolist())]
        told = _harmless("; ".join(dict.fromkeys(titles)), _TITLES)
        reply = self._asked("documents-search", SEARCH_SCHEMA, self.run, titles=told)
        return [] if reply is None else reply["search"]

    def _read(self, hits: Sequence[Ranked], run: Run) -> tuple[ModelAnswer, list[str]]:
        """Return what a model reads in passages, checked, and the lines that it would search for."""
        shown = Shown(self.graph, self.terms, [self.graph.arrays.row(hit.id) for hit in hits])
        text = self.question.text

        def check(reply: JsonValue) -> list[str]:
            assert isinstance(reply, dict), "it fits the schema"
            return shown.faults(reply, text)

        reply = self._asked("documents-read", READ_SCHEMA, run, check, passages=shown.text)
        if reply is None:
            return ModelAnswer(failure="its reply cannot be read", hits=tuple(hits)), []
        lacks, lines = one_line(single_spaced(reply["lacks"]), _ABOVE), reply["search"]
        if faults := shown.faults(reply, text):
            return ModelAnswer(lacks=f"the model's answer was not believed: {faults[0]}", hits=tuple(hits)), lines
        numbers, answer = dict.fromkeys(reply["sentences"]), (reply["answer"] or "").strip()
        cited = tuple(dict.fromkeys(found for number in numbers if (found := shown.sentence(number))))[:_MOST_CITED]
        places = {passage.row: place for place, (passage, _) in reversed([*enumerate(cited)])}
        first = sorted(hits, key=lambda hit: places.get(self.graph.arrays.row(hit.id), len(places)))
        return ModelAnswer(answer or None, cited, lacks or ("" if answer else "what it asks"), hits=tuple(first)), lines


def as_result(result: Result, read: ModelAnswer, k: int) -> Result:
    """Return a ranking with what a model read: the answer with its citations, or a refusal that shows the passages."""
    first = dict.fromkeys(hit.id for hit in read.hits)
    shown = (_as_cited(hit, read.cited) for hit in read.hits)
    hits = (*shown, *(hit for hit in result.hits if hit.id not in first))[:k]
    hits = tuple(hit.model_copy(update={"score": float(len(hits) - place)}) for place, hit in enumerate(hits))
    searched = (f"searched for: {'; '.join(read.searched)}",) if read.searched else ()
    update: dict[str, Any] = {"hits": hits, "trajectories": (*result.trajectories, *read.trajectories)}  # Any: fields
    if read.answer is None:
        refused = Refusal(kind="not_here", text=f"nothing here answers this; lacking: {read.lacks}")
        update |= {"refusal": refused, "notes": (*searched, refused.text)}
    else:
        lacks = (f"not answered: {read.lacks}",) if read.lacks else ()
        update |= {"answer": read.answer, "answer_kind": "text", "notes": (*searched, *lacks)}
        update["citations"] = tuple(_citations(read.answer, read.cited))
    return result.model_copy(update={**update, "notes": (*result.notes, *update["notes"])})


def _as_cited(hit: Ranked, cited: Sequence[CitedSentence]) -> Ranked:
    """Return a hit that shows and opens the sentences of it that are cited; any other as it is."""
    own = [one for one in cited if one.passage.graph.arrays.ids[one.passage.row] == hit.id]
    if not own or hit.span is None:
        return hit
    passage, piece = own[0]
    begin, end = min(one.piece.begin for one in own), max(one.piece.end for one in own)
    begin, end = (begin, end) if end - begin <= LONGEST else (piece.begin, min(piece.end, piece.begin + LONGEST))
    text = f"{passage.above}{passage.text[begin:end]}"
    place = place_in(passage.graph, passage.row, piece.begin)
    return hit.model_copy(update={"text": text, "span": (begin, end), "marks": passage.marks(text), "source": place})


def _citations(answer: str, cited: Sequence[CitedSentence]) -> Iterator[Citation]:
    for passage, piece in cited:
        arrays = passage.graph.arrays
        yield Citation(
            begin=0,
            end=len(answer),
            ids=(arrays.ids[passage.row],),
            source=place_in(passage.graph, passage.row, piece.begin),
            quote=passage.quotation(piece),
        )

"""A model reads the first passages and answers by the numbers of their sentences; the program believes it after checks.

    "[1] Ferries > Fares        {"sentences": ["1.1"], "answer": "4 crowns",
    [1.1] A bicycle costs ..."    "lacks": "", "search": []}

Where something is lacking, the model's own lines are searched for, and it reads once more. What is believed: each
sentence was shown, and the numbers and names of the answer stand in those sentences, above them, or in the question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, NamedTuple, TypeAlias

from orienteer.display import counted
from orienteer.errors import BudgetExhausted, ModelError
from orienteer.graph.reserved import DOCUMENT, SEPARATOR
from orienteer.graph.store import Graph
from orienteer.llm.conversation import ask, begin, ending_of, prompt_of, recorded_by
from orienteer.llm.schema import object_of
from orienteer.methods.documents.abstention import IDENTIFIER, DocumentsConfig, Passage, QuestionTerms
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Citation, Question, Ranked, Refusal, Result, Sampling, StoppedBy, Trajectory
from orienteer.retrieval.expansion.relations import in_turns
from orienteer.retrieval.graph_text import LONGEST, TextPiece, place_in, window
from orienteer.text.english import LANGUAGES, NO_NAMES, language_words
from orienteer.text.numbers import numbers_in, spelled_numbers
from orienteer.text.sentences import one_line, single_spaced, split
from orienteer.text.tokenizer import Tokenizer

Rank: TypeAlias = Callable[[str, int], Result]
"""Ranks that many passages for a line."""
WEAK = 0.25
"""Share of a question that the best passage has, below which lines to search for are asked for first."""
_STRINGS = {"type": "array", "items": {"type": "string"}}
_ANSWER = {"type": ["string", "null"]}
READ_SCHEMA = object_of({"sentences": _STRINGS, "answer": _ANSWER, "lacks": {"type": "string"}, "search": _STRINGS})
SEARCH_SCHEMA = object_of({"search": _STRINGS})
_MARK = re.compile(r"\[(\d+\.\d+)\]")  # as the prompt numbers sentences
# Characters of a passage that are shown, of a sentence, of what stands above or is lacking, of titles, and so on.
_PASSAGE, _LINE, _ABOVE, _TITLES, _LONGEST_LINE, _LONGEST_ANSWER = 2_000, 1_000, 300, 600, 200, 4_000
_MOST_LINES, _MOST_CITED, _FEW, _LOOKED_AT = 4, 12, 20, 10_000
# Properties of a passage in words that say nothing of its document, or what its title says.
_OWN = frozenset({"file", "document", "heading", "subject", "message_id"})
_WORD = re.compile(r"[^\W_](?:[\w.'’/:+-]*\w)?")
_FOLDED = re.compile(r"[^\W\d_]+")
_YES_NO = ("yes", "no", "ja", "nein", "oui", "non", "sí", "si", "sì", "sim", "não", "nee", "nej", "tak", "nie")
_FUNCTIONS = NO_NAMES.union(_YES_NO, *LANGUAGES.values())


class CitedSentence(NamedTuple):
    """A sentence or row that an answer rests on, and what is above it: title, file and header."""

    passage: Passage
    piece: TextPiece
    above: str

    @property
    def id(self) -> str:
        """The id of its passage."""
        return str(self.passage.graph.arrays.ids[self.passage.row])


class Shown:
    """Passages as a prompt shows them, each sentence with a number that no text of theirs can feign."""

    def __init__(self, terms: QuestionTerms, rows: Sequence[int]) -> None:
        self.sentences: dict[str, CitedSentence] = {}
        """What is shown, by its number."""
        lines, self._around = list[str](), ""
        for number, passage in enumerate((Passage(terms, row) for row in rows), 1):
            self._around += f"{passage.text}\n"
            lines.append(f"[{number}] {_harmless(_title(passage, but_in=passage.text), _ABOVE)}")
            lines += [f"    {_harmless(passage.above, _ABOVE)}"] * bool(passage.above.strip())
            above = f"{_title(passage)}\n{passage.above}"
            pieces, (first, last) = [piece for piece, *_ in passage.sentences], (0, _PASSAGE)
            if len(passage.text) > _PASSAGE and pieces:
                best = max(pieces, key=lambda piece: terms.terms.weight(piece.terms))
                first, last = window(pieces, best, terms.terms, _PASSAGE)
            for place, piece in enumerate(pieces, 1):
                text = passage.text[piece.begin : piece.end]
                if text.strip() and first <= piece.begin < last:
                    self.sentences[f"{number}.{place}"] = CitedSentence(passage, piece, above)
                    lines.append(f"[{number}.{place}] {_harmless(text, _LINE)}")
        self.text = "\n".join(lines)

    def cited(self, reply: Mapping[str, Any]) -> tuple[CitedSentence, ...]:
        """Return the sentences that a reply names, each once; those that were not shown are left out."""
        numbers = dict.fromkeys(number.strip(" []") for number in reply["sentences"])
        return tuple(self.sentences[number] for number in numbers if number in self.sentences)[:_MOST_CITED]

    def faults(self, reply: Any, question: str) -> list[str]:  # Any: fits READ_SCHEMA
        """Return why a reply is not believed; nothing if it answers nothing."""
        answer, numbers = reply["answer"] or "", reply["sentences"]
        if not answer.strip():
            return []
        if len(answer) > _LONGEST_ANSWER:
            return [f"the answer has {len(answer):,} characters, more than {_LONGEST_ANSWER:,}"]
        if unknown := [one_line(number, 20) for number in numbers if number.strip(" []") not in self.sentences]:
            return [f"no such sentence: {', '.join(unknown[:_MOST_CITED])}"]
        if not numbers:
            return ["an answer must name the sentences that it rests on"]
        cited = self.cited(reply)
        context = "\n".join(f"{one.above}\n{one.passage.text[one.piece.begin : one.piece.end]}" for one in cited)
        missing = unsupported(answer, context, question, self._around)
        return [f"not in the sentences that it names: {', '.join(missing[:_MOST_CITED])}"] if missing else []


def _title(passage: Passage, *, but_in: str = "") -> str:
    """Return a passage's title, its file's name and what else is known of its document: a mail's sender and date.

    What stands in the text `but_in` is left out.
    """
    title, properties = passage.graph.arrays.names[passage.row], passage.graph.arrays.properties.of(passage.row)
    file = PurePosixPath(str(properties.get("file", ""))).name
    words = {name: value for name, value in properties.items() if name not in _OWN and isinstance(value, str)}
    own = (f"{name}: {value}" for name, value in words.items() if value not in but_in)
    return "; ".join((f"{title} ({file})" if file and file not in title else title, *own))


def _harmless(text: str, longest: int) -> str:
    """Return a text on one line that has none of the prompt's marks."""
    return _MARK.sub(r"(\1)", one_line(single_spaced(text), longest))


def unsupported(answer: str, context: str, question: str, around: str) -> list[str]:
    """Return the numbers and names of an answer that neither its context nor the question has.

    `context` are the sentences that it rests on, with what is above them; `around` is all that the model was shown.
    Names are words with a capital or written as identifiers. Capitals say nothing in German, and little at the
    beginning of a sentence if the answer is in another language than the documents.
    """
    held = f"{context}\n{question}"
    numbers = numbers_in(held) | numbers_in(held, spaced=True) | spelled_numbers(context, question, around)
    missing = min((numbers_in(answer, spaced=spaced) - numbers for spaced in (False, True)), key=len)
    missing |= spelled_numbers(answer, question) - numbers
    language = language_words(Tokenizer.words(f"{question} {answer}"))
    known = {part for word in _FOLDED.findall(held.casefold()) for part in (word, word.removesuffix("s"))}
    known.update(Tokenizer.words(held))
    for sentence in split(answer):
        words = [word.lstrip("0123456789.,:'’/+-") for word in _WORD.findall(sentence)]
        are_names = [word[:1].isupper() and language is not LANGUAGES["de"] for word in words]
        if len(words) > 1 and not are_names[1] and language not in (language_words(Tokenizer.words(around)), set()):
            are_names[0] = False
        for word, is_name in zip(words, are_names, strict=True):
            parts = {part.removesuffix("s") for part in Tokenizer.words(re.sub(r"['’]s?$", "", word))}
            is_identifier = IDENTIFIER.fullmatch(word) is not None or re.search(r"\d", word) is not None
            if (is_identifier or (is_name and word.casefold() not in _FUNCTIONS)) and not known.issuperset(parts):
                missing.add(one_line(word, 60))
    return sorted(missing)


@dataclass(frozen=True)
class ModelAnswer:
    """What came of the readings of a question."""

    answer: str | None = None
    cited: tuple[CitedSentence, ...] = ()
    lacks: str = ""
    hits: tuple[Ranked, ...] = ()
    """The passages that were read, those cited first; none if the model was not heard."""
    failure: str | None = None
    """What cut the readings short."""
    stopped_by: StoppedBy = "finish"
    searched: tuple[str, ...] = ()
    """The lines that were searched for."""
    trajectories: tuple[Trajectory, ...] = ()

    def as_result(self, result: Result, k: int) -> Result:
        """Return a ranking with the answer and its citations, or with a refusal; what was read comes first."""
        read = {hit.id: _as_cited(hit, [one for one in self.cited if one.id == hit.id]) for hit in self.hits}
        hits = [*read.values(), *(hit for hit in result.hits if hit.id not in read)][:k]
        notes = [f"searched for: {'; '.join(self.searched)}"] if self.searched else []
        notes += [f"the readings were cut short: {self.failure}"] if self.failure else []
        update: dict[str, Any]  # Any: fields of a result
        if self.answer is None and self.failure is not None:  # what was not read may answer it
            lacking = f"no answer so far; lacking: {self.lacks}"
            update, notes = {"stopped_by": self.stopped_by}, [*notes, lacking]
        elif self.answer is None:
            refused = Refusal(kind="not_here", text=f"nothing here answers this; lacking: {self.lacks}")
            update, notes = {"refusal": refused}, [*notes, refused.text]
        else:
            notes += [f"not answered: {self.lacks}"] if self.lacks else []
            citations = tuple(_citation(self.answer, one) for one in self.cited)
            update = {"answer": self.answer, "answer_kind": "text", "citations": citations}
        update |= {"trajectories": (*result.trajectories, *self.trajectories), "notes": (*result.notes, *notes)}
        scored = (hit.model_copy(update={"score": float(len(hits) - place)}) for place, hit in enumerate(hits))
        return result.model_copy(update={**update, "hits": tuple(scored)})


def _as_cited(hit: Ranked, cited: Sequence[CitedSentence]) -> Ranked:
    """Return a hit that shows and opens the sentences of it that are cited; any other as it is."""
    if not cited or hit.span is None:
        return hit
    passage, piece, _ = cited[0]
    begin, end = min(one.piece.begin for one in cited), max(one.piece.end for one in cited)
    begin, end = (begin, end) if end - begin <= LONGEST else (piece.begin, min(piece.end, piece.begin + LONGEST))
    text, place = f"{passage.above}{passage.text[begin:end]}", place_in(passage.graph, passage.row, piece.begin)
    return hit.model_copy(update={"text": text, "span": (begin, end), "marks": passage.marks(text), "source": place})


def _citation(answer: str, cited: CitedSentence) -> Citation:
    place = place_in(cited.passage.graph, cited.passage.row, cited.piece.begin)
    quote = cited.passage.quotation(cited.piece)
    return Citation(begin=0, end=len(answer), ids=(cited.id,), source=place, quote=quote)


@dataclass
class ModelReading:
    """One question, read by a model."""

    graph: Graph
    model: LanguageModel
    config: DocumentsConfig
    question: Question
    rank: Rank
    run: Run
    searched: list[str] = field(default_factory=list)
    trajectories: list[Trajectory] = field(default_factory=list)

    def answered(self, ranked: Sequence[Ranked], held: float) -> ModelAnswer:
        """Return what a model answers from the first of these passages, or from what it searches for itself.

        `held` is the share of the question that the best one has.
        """
        listed = list(ranked)
        try:
            if self.config.searches_first or held < WEAK or self._is_foreign(listed):
                listed = self._found(self._lines(self._searches(listed), _MOST_LINES), listed)
        except (BudgetExhausted, ModelError) as failed:
            self.trajectories += recorded_by(failed)
            if isinstance(failed, ModelError):  # a budget may have room for a reading
                return self._done(ModelAnswer(failure=str(failed), stopped_by="error"))
        return self._done(self._readings(listed) if listed else ModelAnswer(lacks="no passage has its words"))

    def _done(self, answer: ModelAnswer) -> ModelAnswer:
        return replace(answer, searched=tuple(self.searched), trajectories=tuple(self.trajectories))

    def _readings(self, hits: Sequence[Ranked]) -> ModelAnswer:
        """Read the first passages, and search and read again while something is lacking."""
        best, seen, most = ModelAnswer(), set[str](), self.config.passages
        for turn in range(self.config.readings):
            hits = hits[:most]
            self.run.tell(f"reading {counted(len(hits), 'passage')}")
            seen.update(hit.id for hit in hits)
            try:
                read, lines = self._read(hits, self.run if turn else self.run.final())
            except (BudgetExhausted, ModelError) as failed:
                self.trajectories += recorded_by(failed)
                return replace(best, failure=str(failed), stopped_by=ending_of(failed))
            if read.failure is not None:
                return replace(best, failure=read.failure)
            best = read if best.answer is None or read.answer is not None else best
            lines = self._lines(lines, _MOST_LINES - 1) if read.lacks and turn + 1 < self.config.readings else []
            fresh = [hit for hit in self._found(lines, ()) if hit.id not in seen]
            if not fresh:
                break
            kept = {one.id for one in read.cited}
            hits = [*[hit for hit in read.hits if hit.id in kept][: most // 2], *fresh]
        return best

    def _lines(self, lines: Sequence[str], most: int) -> list[str]:
        """Return the first lines to search for that were not searched for."""
        said = {line.casefold() for line in (self.question.text, *self.searched)}
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
        arrays = self.graph.arrays
        texts = [arrays.texts[arrays.row(hit.id)] for hit in hits[: self.config.passages]]
        language, *others = (language_words(Tokenizer.words(text)) for text in (self.question.text, *texts))
        return bool(language) and any(others) and language not in others

    # ---------------------------------------------------------------------------------------------------- two requests
    def _asked(self, prompt: str, run: Run, shown: Shown | None = None, **values: str) -> dict[str, Any] | None:
        """Return a model's reply to a prompt, checked against what it was shown; None if none can be read."""
        question = single_spaced(self.question.text)
        sampling = Sampling(temperature=0.0, random_seed=self.run.random_seed)
        told, name = {**values, "question": question}, "documents"
        begun = begin(self.model, prompt_of(prompt), told, question=self.question, method=name, sampling=sampling)
        schema = SEARCH_SCHEMA if shown is None else READ_SCHEMA
        check = None if shown is None else lambda reply: shown.faults(reply, question)
        exchange = ask(self.model, run, begun, schema=schema, check=check, agent=None)
        self.trajectories.append(exchange.trajectory)
        return exchange.value

    def _searches(self, hits: Sequence[Ranked]) -> list[str]:
        """Return the lines that a model searches for, told some titles of the documents."""
        arrays, rows = self.graph.arrays, range(min(len(self.graph), _LOOKED_AT))
        documents = islice((arrays.names[row] for row in rows if arrays.type_at(row) == DOCUMENT), _FEW)
        titles = dict.fromkeys((*(hit.name.partition(SEPARATOR)[0] for hit in hits), *documents))
        reply = self._asked("documents-search", self.run, titles=_harmless("; ".join(titles), _TITLES))
        return [] if reply is None else reply["search"]

    def _read(self, hits: Sequence[Ranked], run: Run) -> tuple[ModelAnswer, list[str]]:
        """Return what a model reads in passages, checked, and the lines that it would search for."""
        terms = QuestionTerms(self.graph, "\n".join((self.question.text, *self.searched)))
        shown = Shown(terms, [self.graph.arrays.row(hit.id) for hit in hits])
        reply = self._asked("documents-read", run, shown, passages=shown.text)
        if reply is None:
            return ModelAnswer(failure="its reply cannot be read"), []
        answer, lacks = single_spaced(reply["answer"] or "") or None, one_line(single_spaced(reply["lacks"]), _ABOVE)
        if faults := shown.faults(reply, self.question.text):
            answer, lacks = None, f"the model's answer was not believed: {faults[0]}"
        cited = shown.cited(reply)
        order = {one.id: place for place, one in reversed([*enumerate(cited)])}
        first = sorted(hits, key=lambda hit: order.get(hit.id, len(order)))
        return ModelAnswer(answer, cited, lacks or ("" if answer else "what it asks"), tuple(first)), reply["search"]

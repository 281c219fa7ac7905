"""The kinds of a quiz's questions: their meanings, the verdicts of a judge, and statistics.

The judge is a model that sees a question and the definitions of the kinds, and nothing else: the assigned kinds are
kept from it, for a writer may have missed them. GraphScout (003), section 3.3.1, appendix B.1 and B.3; figures 7 and 8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

import numpy as np
from pydantic import ValidationError

from orienteer.errors import BadInput, BudgetExhausted, ModelError
from orienteer.files import append_line, mend, read_lines
from orienteer.lab.evaluation.examples import AnswerType, Difficulty, QuizItem, QuizPattern
from orienteer.lab.quizzes import english
from orienteer.lab.quizzes.generator import Ask, Progress, ask_each
from orienteer.llm.conversation import begin, first_request, prompt_of
from orienteer.llm.schema import object_of
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Record, Sampling
from orienteer.text.sentences import tokens

PACKAGE = "orienteer.lab.quizzes"
"""The package with the prompts of the quiz."""
AXES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"answer_type": get_args(AnswerType), "pattern": get_args(QuizPattern), "difficulty": get_args(Difficulty)}
)
"""The three ways in which questions differ, with the kinds of each."""
WORKERS = 8
_SAMPLING = Sampling(temperature=0.0)
_SCHEMA = object_of({axis: {"type": "string", "enum": list(kinds)} for axis, kinds in AXES.items()})


@cache
def definitions() -> Mapping[str, Mapping[str, str]]:
    """Return the meaning of each kind, by axis and kind."""
    meanings: dict[str, dict[str, str]] = {}
    for part in ("\n" + prompt_of("categories", PACKAGE).system).split("\n# ")[1:]:
        axis, *kinds = part.split("\n## ")
        pairs = (kind.partition("\n") for kind in kinds)
        meanings[axis.strip()] = {kind.strip(): meaning.strip() for kind, _, meaning in pairs}
    return MappingProxyType(meanings)


def listed() -> str:
    """Return all definitions as a prompt shows them."""
    return "\n\n".join(
        f"{axis}:\n" + "\n".join(f"- {kind}: {meaning}" for kind, meaning in kinds.items())
        for axis, kinds in definitions().items()
    )


# ------------------------------------------------------------------------------------------------------------ the judge


class Verdict(Record):
    """The kinds that a judge gives a question."""

    id: str
    model: str
    request_sha256: str
    """Of all that the judge was shown."""
    answer_type: AnswerType
    pattern: QuizPattern
    difficulty: Difficulty


@dataclass(frozen=True, slots=True)
class Sorting:
    """The verdicts on a quiz, as far as the judge came."""

    verdicts: tuple[Verdict, ...]
    """In the order of the questions."""
    unread: int
    """Questions left out because the reply fits no kind, not even after a repair turn."""
    stopped: BudgetExhausted | ModelError | None = None
    """The error that ended the work early."""


def sort_questions(
    items: Sequence[QuizItem],
    model: LanguageModel,
    run: Run,
    *,
    file: Path | None = None,
    workers: int = WORKERS,
    progress: Progress = lambda stage, count: None,
) -> Sorting:
    """Return the kinds that a model gives each question, from its words alone.

    Each verdict is appended to `file` as it comes, and what this model has said there of the very same request is not
    asked again. Raises `BadInput` if the file holds something else.
    """
    known = {} if file is None else _read(file)
    prompt = prompt_of("quiz-judge", PACKAGE)
    prompt = prompt._replace(system=Template(prompt.system).substitute(categories=listed()))

    def judge(item: QuizItem, ask: Ask) -> Verdict | Literal["unread"] | None:
        question, values = Question(id=item.id, text=item.question), {"question": item.question}
        begun = begin(model, prompt, values, question=question, method="quiz: judge", sampling=_SAMPLING)
        key = first_request(begun, _SCHEMA).key
        if (item.id, key) in known:
            return known[item.id, key]
        exchange = ask(begun, _SCHEMA)
        if exchange is None or exchange.value is None:
            return None if exchange is None else "unread"
        verdict = Verdict(id=item.id, model=model.name, request_sha256=key, **exchange.value)
        if file is not None:
            append_line(file, verdict.model_dump_json())
        return verdict

    stage = "questions judged"
    outcomes, stopped = ask_each(items, judge, model=model, run=run, workers=workers, stage=stage, progress=progress)
    verdicts = tuple(outcome for outcome in outcomes if isinstance(outcome, Verdict))
    return Sorting(verdicts, outcomes.count("unread"), stopped)


def _read(file: Path) -> dict[tuple[str, str], Verdict]:
    """Return the verdicts of a file by question and request."""
    mend(file)
    try:
        verdicts = [Verdict.model_validate_json(line) for line in read_lines(file)]
    except ValidationError as error:
        raise BadInput(f"{file} holds a line that is no verdict: remove the file, and judge anew") from error
    return {(verdict.id, verdict.request_sha256): verdict for verdict in verdicts}


# ----------------------------------------------------------------------------------------------------------- statistics


class Axis(Record):
    """One way in which questions differ, over a quiz."""

    assigned: dict[str, float]
    """Share of the questions that each kind was assigned to, for every kind."""
    judged: dict[str, float] | None = None
    """Share of the questions that the judge gives each kind; None without a judge."""
    agreement: float | None = None
    """Share of the judged questions on which both agree."""
    kappa: float | None = None
    """Cohen's kappa; None without a judge, or if both know one and the same kind only."""
    confusion: dict[str, dict[str, int]] = {}
    """Questions by the kind assigned and the kind judged, without zeros."""


class Distribution(Record):
    """The distribution of a count over the questions."""

    least: int
    quarter: float
    median: float
    three_quarters: float
    most: int
    mean: float
    counts: dict[int, int]
    """Questions by value, ascending."""


class QuizStatistics(Record):
    """Statistics of a quiz."""

    items: int
    judged: int = 0
    """Questions that a judge sorted; 0 if the shares are the assigned ones."""
    judge: str | None = None
    """The model that judged."""
    axes: dict[str, Axis]
    question_tokens: Distribution | None
    """Our own count, not a model's. None of an empty quiz."""
    clue_nodes: Distribution | None


def statistics_of(items: Sequence[QuizItem], verdicts: Sequence[Verdict] = ()) -> QuizStatistics:
    """Return the statistics of a quiz, with verdicts also those of its judge."""
    by_id = {verdict.id: verdict for verdict in verdicts}
    judged = [(item, by_id[item.id]) for item in items if item.id in by_id]
    return QuizStatistics(
        items=len(items),
        judged=len(judged),
        judge=", ".join(sorted({verdict.model for _, verdict in judged})) or None,
        axes={axis: _axis(axis, items, judged) for axis in AXES},
        question_tokens=_distribution([tokens(item.question) for item in items]),
        clue_nodes=_distribution([len(item.clue_nodes) for item in items]),
    )


def kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return Cohen's kappa of two raters: agreement beyond what chance would give. Cohen 1960.

    None without pairs, and if chance alone gives full agreement: both know one and the same kind only.
    """
    if not pairs:
        return None
    firsts, seconds = (Counter(kinds) for kinds in zip(*pairs, strict=True))
    observed = sum(first == second for first, second in pairs) / len(pairs)
    expected = sum(count * seconds[kind] for kind, count in firsts.items()) / len(pairs) ** 2
    return None if expected == 1 else (observed - expected) / (1 - expected)


def _axis(axis: str, items: Sequence[QuizItem], judged: Sequence[tuple[QuizItem, Verdict]]) -> Axis:
    assigned = _shares(axis, [getattr(item, axis) for item in items])
    if not judged:
        return Axis(assigned=assigned)
    pairs = [(str(getattr(item, axis)), str(getattr(verdict, axis))) for item, verdict in judged]
    confusion: dict[str, dict[str, int]] = {}
    for (own, judges), count in sorted(Counter(pairs).items()):
        confusion.setdefault(own, {})[judges] = count
    return Axis(
        assigned=assigned,
        judged=_shares(axis, [judges for _, judges in pairs]),
        agreement=sum(own == judges for own, judges in pairs) / len(pairs),
        kappa=kappa(pairs),
        confusion=confusion,
    )


def _shares(axis: str, kinds: Sequence[str]) -> dict[str, float]:
    counts = Counter(kinds)
    return {kind: counts[kind] / len(kinds) if kinds else 0.0 for kind in AXES[axis]}


def _distribution(values: Sequence[int]) -> Distribution | None:
    if not values:
        return None
    quarter, median, three_quarters = np.percentile(values, (25, 50, 75)).tolist()
    return Distribution(
        least=min(values),
        quarter=quarter,
        median=median,
        three_quarters=three_quarters,
        most=max(values),
        mean=sum(values) / len(values),
        counts=dict(sorted(Counter(values).items())),
    )


# Edge types in words: a label is read as a verb, a participle, a noun, `has` something, or something `of`.
#
# A label does not say what part of speech it is, so rules guess; what none of them fits is quoted as the name of a
# link, which is clumsy and never wrong.

_KINDS = {
    **dict.fromkeys(("isa", "is a", "is an", "is kind of", "kind of"), "kind"),
    "type of": "type",
    "subclass of": "subclass",
    "sub class of": "subclass",
    "subtype of": "subtype",
    "instance of": "instance",
    "is instance of": "instance",
}


class EdgePhrase(NamedTuple):
    """Ways to say that an edge joins several things to the slot, `{}`, or None for a way that does not exist."""

    predicate: str | None
    """The things are the subject: `bind {}`, `are part of {}`. One that is None has all of the others."""
    predicate_of_many: str | None = None
    """The predicate if several names are in the slot; None if it is the same."""
    predicate_of_clause: str | None = None
    """The predicate if the slot has `genes that ...`; None if it is the same."""
    relative: str | None = None
    """The slot is the subject, one thing: `{} binds`."""
    relative_of_many: str | None = None
    """The slot is the subject, several things: `{} bind`."""
    question: str | None = None
    """`does {} bind`."""
    question_of_many: str | None = None
    """`do {} bind`."""


class EdgePhrases(NamedTuple):
    """The phrases of an edge type with its sources, and with its targets, as the things."""

    of_sources: EdgePhrase
    of_targets: EdgePhrase


def relation(label: str, source: str, target: str, *, is_mutual: bool = False) -> EdgePhrases:
    """Return the phrases of an edge type's label; `source` and `target` are the node types' nouns, in the singular."""
    words = _without_types(english.words_of(label), source, target)
    for read in (_kind_of, _having, _being, _something_of, _active_past, _participle, _placed, _verb, _past, _noun):
        phrases = read(words, target)
        if phrases is not None:
            break
    else:
        phrases = _link(" ".join(english.words_of(label)) or label)
    if not is_mutual:
        return phrases
    # Either end may be said to be the source: things `are antonyms of` one another, rather than have them.
    plain = phrases.of_targets if phrases == _noun(words, target) else phrases.of_sources
    return EdgePhrases(plain, plain)


def _without_types(words: tuple[str, ...], source: str, target: str) -> tuple[str, ...]:
    """Leave out the node types that some schemas write around the verb: `DISEASE_DOWNREGULATES_GENE`."""
    first, last = english.words_of(source), english.words_of(target)
    begins, ends = words[: len(first)] == first, words[len(words) - len(last) :] == last
    inner = words[len(first) : len(words) - len(last)]
    if begins and ends and inner:
        return inner
    # `derived_from_adj`: the type repeats what the preposition leads to.
    return (
        words[: -len(last)]
        if ends and len(words) > len(last) + 1 and words[-len(last) - 1] in english.PREPOSITIONS
        else words
    )


def _kind_of(words: tuple[str, ...], target: str) -> EdgePhrases | None:
    """Read `is a`, `subclass of`."""
    kind = _KINDS.get(" ".join(words))
    return None if kind is None else _one_of(kind, english.plural(kind))


def _having(words: tuple[str, ...], target: str) -> EdgePhrases | None:
    """Read `has tag`, `have topic`."""
    if len(words) < 2 or words[0] not in ("has", "have") or words[-1] in english.PREPOSITIONS | {"of"}:
        return None
    return _owned(" ".join(words[1:]), target, names_it=True)


def _noun(words: tuple[str, ...], target: str) -> EdgePhrases | None:
    """Read `target`, `hypernym`, `domain topic`: the edge's target is that to its source."""
    if not words or len(words) > 3 or not all(word.isalpha() for word in words) or words[0] in ("also", "not", "no"):
        return None
    if not english.PREPOSITIONS.isdisjoint(words) or "of" in words:
        return None
    noun = " ".join(words)
    is_plural = len(noun) > 3 and noun.endswith("s") and english.plural(noun[:-1]) == noun
    return _owned(noun[:-1] if is_plural else noun, target, names_it=False)


def _owned(noun: str, target: str, *, names_it: bool) -> EdgePhrases:
    nouns, a_noun = english.plural(noun), english.article(noun)
    of_targets = f"are {nouns} of {{}}"
    if noun == target:
        sources = EdgePhrase(f"have the {noun} {{}}", "have {}", "have {}")
        return EdgePhrases(sources, EdgePhrase(of_targets, None, None, *_does("have")))
    sources = EdgePhrase(
        f"have the {noun} {{}}" if names_it else f"have {{}} as {a_noun}",
        f"have {{}} as {nouns}",
        f"have {a_noun} among the {{}}",
    )
    return EdgePhrases(sources, EdgePhrase(of_targets, None, None, *_does("have", tail=f" as {a_noun}")))


def _being(words: tuple[str, ...], target: str) -> EdgePhrases | None:
    """Read `is adjacent to`, `are located in`."""
    if len(words) < 2 or words[0] not in ("is", "are", "be", "was", "were"):
        return None
    if words[-1] in english.PREPOSITIONS:
        return _be(" ".join(words[1:]))
    return _something_of(words[2:] if words[1] in ("a", "an", "the") else words[1:], target)


def _something_of(words: tuple[str, ...], target: str) -> EdgePhrases | None:
    """Read `part of`, `author of`."""
    if len(words) < 2 or words[-1] != "of" or "of" in words[:-1]:
        return None
    noun = " ".join(words[:-1])
    if english.is_participle(words[-2]) or noun in ("because", "instead", "capable"):
        return _be(f"{noun} of")
    return _one_of(noun, noun if noun == "part" else english.plural(noun))


def _one_of(noun: str, nouns: str) -> EdgePhrases:
    phrases = _be(f"{nouns} of", "part of" if noun == "part" else f"{english.article(noun)} of")
    owning = f"have {english.article(noun)} among the {{}}"
    return phrases._replace(of_targets=phrases.of_targets._replace(predicate_of_clause=owning))


def _participle(words: tuple[str, ...], target: str) -> EdgePhrases | None:
    """Read `maintained by`, `involved in`, `similar to`, and `derivationally related`, whose preposition is missing."""
    if words and words[-1] in english.RELATED and len(words) <= 2:
        return _be(f"{' '.join(words)} {english.RELATED[words[-1]]}")
    if len(words) < 2 or words[-1] not in english.PREPOSITIONS or len(words) > 4:
        return None
    is_verb = english.is_third_person(words[-2]) or words[-2] in english.VERBS
    return None if is_verb or words[0] in english.PREPOSITIONS else _be(" ".join(words))


def _placed(words: tuple[str, ...], target: str) -> EdgePhrases | None:
    """Read `in`, `from`, and `in section` where sections are what the edges lead to."""
    if not words or words[0] not in english.PREPOSITIONS:
        return None
    if len(words) == 1:
        return _be(words[0])
    if english.words_of(target) != words[1:]:
        return None
    phrases = _be(words[0])
    sources = EdgePhrase(f"are {words[0]} the {target} {{}}", f"are {words[0]} {{}}", f"are {words[0]} {{}}")
    return phrases._replace(of_sources=sources)


def _active_past(words: tuple[str, ...], target: str) -> EdgePhrases | None:
    """Read `acted in`: a past tense, no passive."""
    if len(words) != 2 or words[0] not in english.ACTIVE:
        return None
    return _past_of(words[0], f" {words[1]}")


def _verb(words: tuple[str, ...], target: str) -> EdgePhrases | None:
    """Read `binds`, `negatively regulates`, `interacts with`, `CITES`, and `depends`, whose preposition is missing."""
    preposition = words[-1] if len(words) > 1 and words[-1] in english.PREPOSITIONS else ""
    rest = words[:-1] if preposition else words
    if not rest or not rest[-1].isalpha() or " ".join(rest) == english.plural(target):
        return None
    *adverbs, verb = rest
    if any(not (adverb.endswith("ly") or adverb == "pre") for adverb in adverbs):
        return None
    is_base = verb in english.VERBS and verb != target
    if not is_base and not english.is_third_person(verb):
        return None
    base = verb if is_base else english.base_of(verb)
    preposition = preposition or english.GOVERNED.get(base, "")
    before = "".join(f"{adverb}-" if adverb == "pre" else f"{adverb} " for adverb in adverbs)
    tail = f" {preposition}" if preposition else ""
    passive = None if tail else f"are {before}{english.participle_of(base)} by {{}}"
    targets = EdgePhrase(passive, None, None, *_does(base, before=before, tail=tail))
    return EdgePhrases(EdgePhrase(f"{before}{base}{tail} {{}}"), targets)


def _past(words: tuple[str, ...], target: str) -> EdgePhrases | None:
    """Read `directed`, `wrote`."""
    if len(words) != 1 or not (words[0] in english.PAST or (words[0].endswith("ed") and len(words[0]) > 4)):
        return None
    return _past_of(words[0], "")


def _past_of(past: str, tail: str) -> EdgePhrases:
    base = english.PAST.get(past) or next((verb for verb in (past[:-2], past[:-1]) if verb in english.VERBS), None)
    passive = None if tail else f"were {english.PARTICIPLES.get(past, past)} by {{}}"
    base = base or past.removesuffix("ed")
    question = f"did {{}} {base}{tail}"
    relative = f"{{}} {past}{tail}"
    sources, targets = f"{past}{tail} {{}}", (passive, None, None, relative, relative, question, question)
    return EdgePhrases(EdgePhrase(sources), EdgePhrase(*targets))


def _link(name: str) -> EdgePhrases:
    """Say it of any edge type, by quoting its name."""
    a_link = f"{'an' if name[:1].lower() in 'aeiou' else 'a'} “{name}” link"
    return EdgePhrases(
        EdgePhrase(f"have {a_link} to {{}}"),
        EdgePhrase(f"have {a_link} from {{}}", None, None, *_does("have", tail=f" {a_link} to")),
    )


def _be(plural: str, singular: str | None = None) -> EdgePhrases:
    """Say it with `to be`; the plural may differ from the singular: `members of` and `a member of`."""
    singular = singular or plural
    forms = (f"{{}} is {singular}", f"{{}} are {plural}", f"is {{}} {singular}", f"are {{}} {plural}")
    return EdgePhrases(EdgePhrase(f"are {plural} {{}}"), EdgePhrase(None, None, f"have {{}} {plural} them", *forms))


def _does(base: str, *, before: str = "", tail: str = "") -> tuple[str, str, str, str]:
    third = f"{{}} {before}{english.third_of(base)}{tail}"
    return third, f"{{}} {before}{base}{tail}", f"does {{}} {before}{base}{tail}", f"do {{}} {before}{base}{tail}"

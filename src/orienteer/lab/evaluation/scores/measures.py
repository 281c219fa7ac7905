"""Measures of a ranking, by rank alone: scores of hits are never read, so no evaluator's rule for scores applies.

A ranking is node ids, best first; gold is node ids with their relevance, relevant above 0. An id that is repeated in a
ranking counts at its first place only, and takes no second one. With R the number of relevant nodes:

Hit@k        1 if one of the first k is relevant, else 0. TREC's Success@k.
Recall@k     relevant among the first k / R, never / min(k, R): with R above k it cannot reach 1.
AllGold@k    1 if the first k have all relevant nodes, else 0; 0 with R above k. HippoRAG's all-recall, AR@k.
Precision@k  relevant among the first k / k, even if the ranking is shorter.
MRR          1 / place of the first relevant node in the whole ranking, 0 without one.
MAP          precision at the place of each relevant node of the ranking, added up, / R. TREC's AP.
nDCG@k       sum of relevance / log2(place + 1) over the first k, / the same sum of the best possible ranking.
Evidence@n   of no ranking: relevant nodes seen up to step n of the trajectories / R (GraphSearch, figure 6b).

`k` is a whole number from 1 up, or `all` for the whole ranking (`Precision@all` is over its length). STaRK's official
figures drop hits whose node type cannot answer before they rank; if a data set has such a rule (`candidates`), the
plain name is the official measure, and the name followed by ` (raw)` is of the ranking as the method gave it. These
equal trec_eval, and STaRK's evaluator wherever it is fed scores above 0.

Measures of an answer in words: EM, F1, SubEM, SetF1 and Rouge, each strict and lenient.

Before the comparison an answer loses its citations (ids of hits in square brackets), and if it contains `Answer:`
only the text after the last of them counts. Then both sides are normalised:

strict   as SQuAD and HotpotQA do: lower case, punctuation removed, a / an / the removed, white space made single. Ours
         besides, so that different things stay different: a point between digits stays, as do a minus before a number
         and + or # at the end of a word (3.5 is not 35, C++ is not C); 1,234 is 1234.
lenient  compatibility forms and accents folded as well, and punctuation parts words instead of joining them.
A text of nothing but punctuation and articles stays as it is.

EM       1 if the answer is one of the gold answers. For `set`: if it has all of them and no more.
F1       harmonic mean of precision and recall of words, the best over the gold answers. For `set`: over all of them
         together. In scripts without spaces a character is a word.
SubEM    1 if one of the gold answers is in the answer, as whole words. For `set`: if all of them are. Lenient:
         also inside of words, and anywhere in the whole response, whatever `Answer:` says at its end; GraphSearch
         (002, appendix D) asks no more than that, and does not say how texts are normalised.
SetF1    of items, for `set` alone; see `items_in`.
Rouge-1  and Rouge-2, Rouge-L: of the texts as Graph-CoT's evaluation takes them, whatever the type, the best over the
         gold answers. For `set`: over all of them as one text, in gold's order. Lenient: of words as above.

If gold is a boolean or a number, by its type or because all gold answers are such words, only its value counts: True
is yes, 1,234 is 1234, and "no" is not in "unknown". EM then allows nothing else; F1 is EM; SubEM
takes the first yes or no, or any of the numbers said.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise, zip_longest
from typing import Literal, NamedTuple, TypeAlias

from orienteer.errors import BadOption, nearest
from orienteer.lab.evaluation.examples import Gold
from orienteer.plugins import load, refused, registered
from orienteer.records import Ranked, Trajectory

# What a table shows of rankings unless other measures are named: those that the papers print.
RANKING = ("Hit@1", "Hit@5", "Recall@20", "MRR")
RAW = " (raw)"
EVIDENCE = "Evidence"
_EXAMPLES = ("Hit@1", "Hit@5", "Recall@20", "Recall@all", "AllGold@5", "Precision@5", "nDCG@10", "MRR", "MAP")
_NAME = re.compile(r"(?P<kind>[A-Za-z]+)(?:@(?P<k>[1-9][0-9]*|all))?")


# A ranking, gold and k to a value, as defined at the head of this module.
Formula: TypeAlias = Callable[[Sequence[str], Mapping[str, float], int | None], float]


def _average_precision(ranking: Sequence[str], gold: Mapping[str, float], _k: int | None) -> float:
    places = [place for place, node in enumerate(ranking, 1) if gold.get(node, 0) > 0]
    return math.fsum(count / place for count, place in enumerate(places, 1)) / _relevant(gold)


def _ndcg(ranking: Sequence[str], gold: Mapping[str, float], k: int | None) -> float:
    def gain(relevances: Iterable[float]) -> float:
        return math.fsum(relevance / math.log2(place + 1) for place, relevance in enumerate(islice(relevances, k), 1))

    best = sorted((relevance for relevance in gold.values() if relevance > 0), reverse=True)
    return gain(max(0.0, gold.get(node, 0.0)) for node in ranking) / gain(best)


def _relevant_among(ranking: Sequence[str], gold: Mapping[str, float], k: int | None) -> int:
    """Return the number of relevant nodes among the first k."""
    return sum(gold.get(node, 0) > 0 for node in ranking[:k])


_CUT: Mapping[str, Formula] = {
    "Hit": lambda ranking, gold, k: float(_relevant_among(ranking, gold, k) > 0),
    "Recall": lambda ranking, gold, k: _relevant_among(ranking, gold, k) / _relevant(gold),
    "AllGold": lambda ranking, gold, k: float(_relevant_among(ranking, gold, k) == _relevant(gold)),
    # Places without a hit count as not relevant.
    "Precision": lambda ranking, gold, k: _relevant_among(ranking, gold, k) / max(1, len(ranking) if k is None else k),
    "nDCG": _ndcg,
}
_WHOLE: Mapping[str, Formula] = {
    "MRR": lambda ranking, gold, k: next(
        (1 / place for place, node in enumerate(ranking, 1) if gold.get(node, 0) > 0), 0.0
    ),
    "MAP": _average_precision,
}


@dataclass(frozen=True, slots=True)
class RankMeasure:
    """A measure of rankings, by its name."""

    name: str
    is_raw: bool
    """Whether it measures the whole ranking, hits that may not answer by the benchmark's rule included."""
    k: int | None
    """The number of places that count. None: all."""
    formula: Formula

    def __call__(self, ranking: Sequence[str], gold: Mapping[str, float]) -> float:
        """Return the value, from 0 to 1. Raises `ValueError` if no gold node is relevant."""
        _relevant(gold)
        return self.formula(tuple(dict.fromkeys(ranking)), gold, self.k)


def rank_measure(name: str) -> RankMeasure:
    """Return a measure by its name, such as `Recall@20`, `MRR` or `Hit@1 (raw)`. Raises `BadOption`."""
    plain = name.removesuffix(RAW)
    parts = _NAME.fullmatch(plain)
    kind, k = (parts["kind"], parts["k"]) if parts else ("", None)
    if kind in _WHOLE and k is None:
        return RankMeasure(name, plain != name, None, _WHOLE[kind])
    if kind in _CUT and k is not None:
        return RankMeasure(name, plain != name, None if k == "all" else int(k), _CUT[kind])
    if parts and (formula := load("measures", kind, {*_WHOLE, *_CUT, EVIDENCE})) is not None:
        if not callable(formula):
            raise refused("measures", kind, f"{formula!r} is not a function of a ranking, gold and k")
        return RankMeasure(name, plain != name, int(k) if k not in (None, "all") else None, formula)
    raise BadOption(unknown_measure(name, (*_EXAMPLES, *registered("measures"))))


def evidence_step(name: str) -> int | None:
    """Return the step of a measure `Evidence@n`, 0 for `Evidence@all`; None for any other measure."""
    parts = _NAME.fullmatch(name)
    if parts is None or parts["kind"] != EVIDENCE or parts["k"] is None:
        return None
    return 0 if parts["k"] == "all" else int(parts["k"])


def unknown_measure(name: str, names: Sequence[str]) -> str:
    """Return the message for an unknown measure, with the nearest names at its k, and all names."""
    _, at, k = name.partition("@")
    has_k = at and _NAME.fullmatch(f"Hit@{k}")
    near = nearest(name, [f"{one.partition('@')[0]}@{k}" if has_k and "@" in one else one for one in names], most=2)
    hint = f"Near: {', '.join(near)}. " if near else ""
    return f"There is no measure {name!r}. {hint}There are: {', '.join(names)}; any k may stand after @."


def ranking_of(hits: Iterable[Ranked], candidates: Iterable[str] | None) -> tuple[str, ...]:
    """Return the ids of hits, best first, without those whose node type is not a candidate. None lets all pass."""
    allowed = None if candidates is None else frozenset(candidates)
    return tuple(hit.id for hit in hits if allowed is None or hit.type in allowed)


def evidence_recall(trajectories: Iterable[Trajectory], gold: Mapping[str, float]) -> list[float]:
    """Return the share of the relevant nodes that were seen in observations up to each step (GraphSearch, figure 6b).

    A method that only retrieves records a step for each round, with the ids of the round in its observations. Agents
    that work side by side take their steps together: step n is the n-th of each. The list is as long as the longest
    trajectory; in a mean over questions, a list that has ended keeps its last value. Raises `ValueError` without a
    relevant gold node.
    """
    relevant = {node for node, relevance in gold.items() if relevance > 0}
    total = _relevant(gold)
    observed: set[str] = set()
    shares: list[float] = []
    for steps in zip_longest(*(trajectory.steps for trajectory in trajectories)):
        for step in filter(None, steps):
            observed.update(node for observation in step.observations for node in observation.nodes)
        shares.append(len(observed & relevant) / total)
    return shares


def relevant_count(gold: Mapping[str, float]) -> int:
    """Return the number of relevant nodes."""
    return sum(relevance > 0 for relevance in gold.values())


def _relevant(gold: Mapping[str, float]) -> int:
    count = relevant_count(gold)
    if not count:
        raise ValueError("a ranking is measured against relevant nodes, and gold holds none")
    return count


# Measures of answers in words.


LENIENT = " (lenient)"
# What a table shows of answers unless other measures are named.
ANSWERS = ("EM", "F1", "SubEM", f"SubEM{LENIENT}")
_BOOLEANS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
_ARTICLES = frozenset({"a", "an", "the"})
_MARKER = re.compile(r"\banswer\s*[:：]", re.IGNORECASE)
# Scripts that are written without spaces: Thai, Lao, Burmese, Khmer, kana, Han.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_UNSURE = re.compile(r"[^\w\s]|_")
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d+)?|\.\d+)")
_BETWEEN_ITEMS = re.compile(r"[\n;,、，；]|\band\b", re.IGNORECASE)
_BULLET = re.compile(r"^[^\S\n]*(?:[-*•–]|\(?\d{1,3}[.)])\s+", re.MULTILINE)

_Form: TypeAlias = Literal["boolean", "number", "words"]


class Items(NamedTuple):
    """The items that an answer lists."""

    right: tuple[str, ...]
    wrong: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerMeasure:
    """A measure of answers, by its name."""

    name: str
    kind: str
    is_lenient: bool

    def __call__(self, answer: str, gold: Gold, *, others: Sequence[str] = (), whole: str = "") -> float | None:
        """Return the value, from 0 to 1, or None for SetF1 of an answer that is not a set.

        `others` are names that the answer may contain wrongly, such as those of the hits; `whole` is the response that
        ends with the answer, if it is longer. Raises `ValueError` without a gold answer.
        """
        if self.kind == "SetF1" and gold.answer_type != "set":
            return None
        if self.kind in _OF_ITEMS:
            return _OF_ITEMS[self.kind](answer, gold, lenient=self.is_lenient, others=others)
        if self.name == f"SubEM{LENIENT}" and whole and _form(gold) == "words":
            answer = whole
        return _OF_WORDS[self.kind](answer, gold, lenient=self.is_lenient)


def answer_measure(name: str) -> AnswerMeasure:
    """Return a measure by its name: one of `NAMES`, each also with ` (lenient)`. Raises `BadOption`."""
    kind = name.removesuffix(LENIENT)
    if kind not in NAMES:
        raise BadOption(unknown_measure(name, NAMES))
    return AnswerMeasure(name, kind, kind != name)


def without_citations(answer: str, cited: Iterable[str]) -> str:
    """Return an answer without the ids of hits in square brackets."""
    for node_id in cited:
        answer = answer.replace(f"[{node_id}]", "")
    return answer


def short_answer(answer: str, cited: Iterable[str] = ()) -> str:
    """Return an answer without its citations, and only what follows its last `Answer:` if there is one."""
    return _MARKER.split(without_citations(answer, cited))[-1].strip()


def normalise(text: str, *, lenient: bool = False) -> str:
    """Return a text in the form in which texts are compared; see the head of this module."""
    text = unicodedata.normalize("NFKD" if lenient else "NFC", text).casefold()
    if lenient:
        text = "".join(mark for mark in text if not unicodedata.combining(mark))
    text = _THOUSANDS.sub("", text.replace("\u2212", "-"))
    other = " " if lenient else ""
    plain = _UNSURE.sub(lambda match: match[0] if _is_kept(text, match.start()) else other, text)
    return " ".join(word for word in plain.split() if word not in _ARTICLES) or " ".join(text.split())


def words_of(text: str, *, lenient: bool = False) -> list[str]:
    """Return the words of a text after normalising; a character each in scripts without spaces."""
    return _WORD.findall(normalise(text, lenient=lenient))


def exact(answer: str, gold: Gold, *, lenient: bool = False, others: Sequence[str] = ()) -> float:
    """Return EM. Raises `ValueError` without a gold answer."""
    form = _form(gold)
    if form != "words":
        values = {_value(name, form) for name in gold.answers}
        return float(_value(answer, form) in values - {None})
    if gold.answer_type == "set":
        items = items_in(answer, gold.answers, lenient=lenient, others=others)
        return float(not items.wrong and len(items.right) == len(_distinct(gold.answers, lenient=lenient)))
    words = words_of(answer, lenient=lenient)
    return float(any(words == words_of(name, lenient=lenient) for name in gold.answers))


def token_f1(answer: str, gold: Gold, *, lenient: bool = False) -> float:
    """Return F1 over words. Raises `ValueError` without a gold answer."""
    if _form(gold) != "words":
        return exact(answer, gold, lenient=lenient)
    texts = [" ".join(gold.answers)] if gold.answer_type == "set" else gold.answers
    words = Counter(words_of(answer, lenient=lenient))
    golds = [Counter(words_of(text, lenient=lenient)) for text in texts]
    return max(2 * (words & gold).total() / max(1, words.total() + gold.total()) for gold in golds)


def contains(answer: str, gold: Gold, *, lenient: bool = False) -> float:
    """Return SubEM. Raises `ValueError` without a gold answer."""
    form = _form(gold)
    if form != "words":
        # The first boolean, or all the numbers, among the words of the answer.
        values = {_value(name, form) for name in gold.answers} - {None}
        present = [_value(word, form) for word in normalise(answer, lenient=True).split()]
        present = [value for value in present if value is not None]
        return float(any(value in values for value in (present[:1] if form == "boolean" else present)))
    if lenient:
        text = normalise(answer, lenient=True)
        plain = [normalise(name, lenient=True) for name in gold.answers]
        are_in = [bool(name) and name in text for name in plain]  # an empty name is in every text
    else:
        words = words_of(answer)
        are_in = [_start_of(words_of(name), words) is not None for name in gold.answers]
    return float(all(are_in) if gold.answer_type == "set" else any(are_in))


def rouge(answer: str, gold: Gold, *, kind: str, lenient: bool = False) -> float:
    """Return Rouge-1, Rouge-2 or Rouge-L. Raises `ValueError` without a gold answer."""
    _require(gold)
    cut = partial(words_of, lenient=True) if lenient else rouge_words
    texts = [", ".join(gold.answers)] if gold.answer_type == "set" else gold.answers
    words = cut(answer)
    if kind == "Rouge-L":
        return max(rouge_l(words, cut(text)) for text in texts)
    return max(rouge_n(words, cut(text), int(kind[-1])) for text in texts)


def set_f1(answer: str, gold: Gold, *, lenient: bool = False, others: Sequence[str] = ()) -> float:
    """Return F1 over the items of an answer that is a set. Raises `ValueError` without a gold answer."""
    _require(gold)
    items = items_in(answer, gold.answers, lenient=lenient, others=others)
    return 2 * len(items.right) / (len(items.right) + len(items.wrong) + len(_distinct(gold.answers, lenient=lenient)))


def items_in(answer: str, names: Sequence[str], *, lenient: bool = False, others: Sequence[str] = ()) -> Items:
    """Return the items that an answer lists, once each: those that are among the names, and all others.

    Strict: a JSON array of texts is its items. Else the text is cut at line ends, commas, semicolons and "and", and
    bullets and numbers before items are dropped; since names hold commas too, as many parts as make up one of the names
    are taken together first, the longest name first. Every other part is a wrong item, words around the names included.

    Lenient, for answers in prose: the names anywhere in the text, as whole words, the longest first. Only
    names among `others` can be wrong items: prose does not show where any other wrong item begins.
    """
    if lenient:
        return _items_in_prose(answer, names, others)
    targets = {normalise(name): name for name in names}
    # A list in words is cut into its parts; what separates two of them stays at the head of the second.
    parts: list[str] | None = None
    if answer.lstrip().startswith("["):
        with suppress(ValueError):
            items = json.loads(answer)
            parts = items if isinstance(items, list) and all(isinstance(item, str) for item in items) else None
    if parts is None:
        text = _BULLET.sub("", answer)
        starts = [0, *(match.start() for match in _BETWEEN_ITEMS.finditer(text)), len(text)]
        parts = [text[start:end] for start, end in pairwise(starts)]

    def item_of(parts: Sequence[str]) -> str:
        """Return parts as one item, normalised, without the separator before the first."""
        text = "".join(parts)
        before = _BETWEEN_ITEMS.match(text)
        return normalise(text[before.end() :] if before else text)

    longest = max((len(_BETWEEN_ITEMS.findall(name)) for name in names), default=0) + 1
    right: dict[str, None] = {}
    wrong: dict[str, None] = {}
    place = 0
    while place < len(parts):
        for count in range(min(longest, len(parts) - place), 0, -1):
            item = item_of(parts[place : place + count])
            if item in targets:
                right[targets[item]] = None
                break
        else:
            count, item = 1, item_of(parts[place : place + 1])
            if any(map(str.isalnum, item)):
                wrong[item] = None
        place += count
    return Items(tuple(right), tuple(wrong))


def _items_in_prose(answer: str, names: Sequence[str], others: Sequence[str]) -> Items:
    """Return the names in a text, the longest first: the words of a name that was found count for no other name."""
    words = words_of(answer, lenient=True)
    right: dict[str, None] = {}
    wrong: dict[str, None] = {}
    gold = _distinct(names, lenient=True)
    for name in sorted({*gold, *_distinct(others, lenient=True)}, key=lambda name: (-len(_WORD.findall(name)), name)):
        parts = _WORD.findall(name)
        while (start := _start_of(parts, words)) is not None:
            words[start : start + len(parts)] = [""]
            (right if name in gold else wrong)[gold.get(name, name)] = None
    return Items(tuple(right), tuple(wrong))


def _distinct(names: Iterable[str], *, lenient: bool) -> dict[str, str]:
    """Return names by their normalised forms."""
    return {normalise(name, lenient=lenient): name for name in names}


def _start_of(part: Sequence[str], words: Sequence[str]) -> int | None:
    """Return the first place of some words among others, or None."""
    size = len(part)
    starts = range(len(words) - size + 1) if size else ()
    return next((start for start in starts if list(words[start : start + size]) == list(part)), None)


def _form(gold: Gold) -> _Form:
    """Return the form of comparison: by value or by words. Raises `ValueError` without a gold answer."""
    _require(gold)
    for form in ("boolean", "number"):
        if gold.answer_type in (None, form) and all(_value(name, form) is not None for name in gold.answers):
            return form
    return "words"


def _require(gold: Gold) -> None:
    if not gold.answers:
        raise ValueError("an answer needs gold answers to be measured")


def _value(text: str, form: _Form) -> float | None:
    """Return the value of a text that is one boolean or one number and nothing else; None for any other text."""
    plain = normalise(text)
    if form == "boolean":
        return _BOOLEANS.get(plain)
    return float(plain) if _NUMBER.fullmatch(plain) else None


def _is_kept(text: str, place: int) -> bool:
    """Return whether a sign is part of a word; see the head of this module."""
    sign = text[place]
    if unicodedata.category(sign).startswith("M"):  # vowel signs and accents
        return True
    before = text[place - 1] if place else " "
    after = text[place + 1 : place + 2]
    if sign in "+#":
        return before.isalnum() or before == sign == "+"
    if sign == ".":
        return before.isdigit() and after.isdigit()
    return sign == "-" and before.isspace() and after.isdigit()


_OF_ITEMS = {"EM": exact, "SetF1": set_f1}
_ROUGE = ("Rouge-1", "Rouge-2", "Rouge-L")
_OF_WORDS: Mapping[str, Callable[..., float]] = {
    "F1": token_f1,
    "SubEM": contains,
    **{kind: partial(rouge, kind=kind) for kind in _ROUGE},
}
NAMES = ("EM", "F1", "SubEM", "SetF1", *_ROUGE)


def is_answer_measure(name: str) -> bool:
    """Return whether `answer_measure` knows this name."""
    return name.removesuffix(LENIENT) in NAMES


# ROUGE over words: runs of n in common, and the longest common subsequence, each as F1. Lin 2004.
#
# Graph-CoT's evaluation of GRBench (its eval.py) prints Rouge-1, Rouge-2 and Rouge-L of the `rouge` metric that Hugging
# Face's `evaluate` loads. That is Google's rouge-score without stemming: texts in lower case, words of the letters a to
# z and of digits, everything else a gap. Words of other scripts are none there; the lenient measures of `answers` know
# them.


_ROUGE_WORD = re.compile("[a-z0-9]+")


def rouge_words(text: str) -> list[str]:
    """Return the words of a text as rouge-score cuts it."""
    return _ROUGE_WORD.findall(text.lower())


def rouge_n(words: Sequence[str], gold: Sequence[str], n: int) -> float:
    """Return F1 over the runs of n words; 0 if either text is shorter."""
    ours, theirs = (Counter(zip(*(side[at:] for at in range(n)), strict=False)) for side in (words, gold))
    common = (ours & theirs).total()
    return 2 * common / (ours.total() + theirs.total()) if common else 0.0


def rouge_l(words: Sequence[str], gold: Sequence[str]) -> float:
    """Return F1 by the longest common subsequence of words."""
    common = common_subsequence(words, gold)
    return 2 * common / (len(words) + len(gold)) if common else 0.0


def common_subsequence(words: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    longest = [0] * (len(other) + 1)
    for word in words:
        before = 0  # of the words so far, and of the other's up to the one before
        for place, theirs in enumerate(other, 1):
            above = longest[place]
            longest[place] = before + 1 if word == theirs else max(above, longest[place - 1])
            before = above
    return longest[-1]

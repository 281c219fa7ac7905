"""The forms in which models write tool calls into their words: one table of marks, one reader behind it.

    {"name": NAME, "arguments": {...}}         with or without marks around it, also with the names of `_NAMES`
    MARK NAME SEPARATOR {...}                  DeepSeek, Kimi, Mistral, Llama's functions, harmony, ReAct, Gemma
    MARK NAME <parameter=KEY>VALUE</parameter> Qwen3-Coder, Anthropic's, GLM, MiniMax, DeepSeek 3.2
    MARK NAME(KEY=VALUE, ...)                  Llama's Python, Gemma's `tool_code`, LFM2

A mark promises a call. If none follows that can be read, the call is broken, and the model is told so. Nothing in a
thought is a call. The text is untrusted: each character is read a bounded number of times.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import product
from typing import NamedTuple, TypeAlias

from orienteer.llm.schema import LONGEST_REPAIRED, closing, decode, repaired, without_turn_end
from orienteer.records import ToolCall

THOUGHTS = ("<think>", "<thinking>", "<seed:think>", "[THINK]", "<|channel|>analysis<|message|>")
"""The beginnings of a reasoning model's thoughts."""
_THOUGHT = (
    r"<(?P<{0}>think|thinking|seed:think)>.*?(?:</(?P={0})>{1})|\[THINK\].*?(?:\[/THINK\]{1})"
    r"|(?:<\|start\|>assistant)?<\|channel\|>analysis<\|message\|>.*?(?:<\|end\|>|(?=<\|(?:start|channel)\|>){1})"
)
_OR_NEVER = r"|\Z"  # a thought that is not closed goes on to the end
# Some servers put the opening mark into the prompt, so that only the closing one is left.
_DRAFT = re.compile(rf"(?:\s*(?:{_THOUGHT.format('tag', '')}))+|.*?</think>[ \t]*(?=\n)", re.DOTALL)
_FINAL = re.compile(r"\s*(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>")
_MARK = re.compile(
    rf"(?P<thought>{_THOUGHT.format('of', _OR_NEVER)})"
    r"|(?P<mark><(?:\w+:)?(?:tool_?calls?|(?:start_)?function_calls?)>|<function(?:=|\s+name=)"
    r"|<(?:[|｜]\w+[|｜]|\w+:)?invoke name="
    r"|<[|｜]tool▁call▁begin[|｜]>|<\|(?:tool_call(?:_begin|_start)?|python_(?:tag|start)|START_ACTION|tools_prefix)\|?>"
    r"|\[TOOL_CALLS\]|```tool_c(?:ode|alls?)\b|\bto=(?=functions\.|[^\n]{1,200}<\|message\|>)"
    r"|^\**Action:\**(?=[^\n]*\n+\**Action Input:))"
    r'|\{(?=\s*["\'}\w])',
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_NAMED = re.compile(
    r'[\s"]*(?:function<[|｜]tool▁sep[|｜]>)?(?P<name>[\w.:/-]{0,127}\w)\s*'
    r'(?:"?[^<>\n]{0,80}>|<[|｜]tool▁sep[|｜]>|<\|tool_call_argument_begin\|>|(?:\[CALL_ID\][\w-]+)?\[ARGS\]'
    r"|[^\n]{0,80}?<\|message\|>|\**Action Input:\**)?\s*(?:```)?(?:json)?\s*"
)
_PARAMETER = re.compile(
    r"\s*(?:<(?P<tag>(?:[|｜]\w+[|｜]|\w+:)?parameter)(?:=|\s+name=)\"?(?P<key>[^\">]+)\"?[^>]*>(?P<value>.*?)</(?P=tag)>"
    r"|<arg_key>(?P<key2>.*?)</arg_key>\s*<arg_value>(?P<value2>.*?)</arg_value>)",
    re.DOTALL,
)
_LIST = re.compile(r"\s*\[?(?=[A-Za-z_][\w.]*\()")
_PYTHON = re.compile(r"(?:[\s,\[)]|print\()*(?P<name>[A-Za-z_][\w.]{0,127})\((?!\()")
_OPENING = re.compile(r'\{\s*"\w+"\s*:\s*\[\s*\Z')  # of an object that lists calls
_BRACE = re.compile(r'\{(?=\s*["}])')  # of an object: a name follows, or its end
_NEXT = re.compile(r"\s*\{")
_END = re.compile(r"</?[\w:|｜]+>|<[|｜][^<>\n]{1,40}[|｜]>|```")
# The members of an object that is a call, in what models were taught.
_NAMES = ("name", "tool", "tool_name", "function", "action")
_GIVEN = ("arguments", "parameters", "args", "input", "tool_input", "action_input")
_BEGUN = re.compile(
    rf"\{{\s*[\"']?(?:{'|'.join(_NAMES)})[\"']?\s*:\s*[\"'][\w.:/-]*[\"']\s*,\s*[\"']?(?:{'|'.join(_GIVEN)})\b"
)
_Call: TypeAlias = tuple[str, str]  # its name, and its arguments as JSON
_MOST_READINGS = 8  # of a character: calls stand in few lists and objects
_MOST_FAILURES = 200  # each costs a look at the whole text: Python counts its lines for the error
_MOST_BROKEN = 32  # calls that are told
_MOST_SHOWN = 200  # characters of a broken call that its refusal repeats


class SpokenCalls(NamedTuple):
    """The calls of a text."""

    calls: tuple[ToolCall, ...] = ()
    """With arguments as the model wrote them, or as JSON if it wrote them otherwise."""
    broken: tuple[str, ...] = ()
    """A sentence for each call that cannot be read."""
    start: int = 0
    """The offset of the first call or mark, or the length of the text."""


def after_draft(text: str) -> int:
    """Return the offset of the end of a reasoning model's thoughts; a call in them is only considered."""
    thought = _DRAFT.match(text)
    end = thought.end() if thought else 0
    final = _FINAL.match(text, end)
    return final.end() if final else end


def read_spoken(text: str, *, turn: int = 0) -> SpokenCalls:
    """Return the calls in a text behind its thoughts, sound and broken ones; `turn` numbers the reply in their ids."""
    reader = _Reader(text)
    reader.read(after_draft(text))
    start = len(_OPENING.sub("", text[: reader.start])) if reader.calls else reader.start
    calls = (
        ToolCall(id=f"call_{turn}_{place}", name=name, arguments=arguments)
        for place, (name, arguments) in enumerate(reader.calls)
    )
    return SpokenCalls(tuple(calls), tuple(reader.broken), start)


def fault(inner: str) -> str:
    """Return a sentence for the model about a call that cannot be read."""
    shown = inner if len(inner) <= _MOST_SHOWN else f"{inner[:_MOST_SHOWN]} ..."
    why = 'it needs the members "name" and "arguments"'
    try:
        decode(inner)
    except ValueError as error:
        why = f"it is no JSON ({error})"
    return f"A tool call could not be read: {why}. It was: {shown}"


def object_in(text: str) -> str | None:
    """Return the first JSON object in a text, as text, or None."""
    reader = _Reader(text)
    for brace in _BRACE.finditer(text, after_draft(text)):
        if not reader.has_room:
            break
        if (written := reader.value(brace.start(), repairs=False)[0]) is not None:
            return written
    return None


class _Reader:
    """Reads the calls of one text."""

    def __init__(self, text: str) -> None:
        self._text, self.start = text, len(text)
        self.calls: list[_Call] = []
        self.broken: list[str] = []
        self._promised: int | None = None  # the end of a mark that no call has followed yet
        self._room, self._failures = _MOST_READINGS * len(text), 0

    @property
    def has_room(self) -> bool:
        """Whether more may be read."""
        return self._room >= 0 and self._failures <= _MOST_FAILURES and len(self.broken) < _MOST_BROKEN

    def read(self, at: int) -> None:
        """Read all calls from an offset on, as long as there is room."""
        if _LIST.match(self._text, at):  # calls in Python without a mark stand alone, or are none
            calls, end = self._python(at)
            if calls and not without_turn_end(self._text[end:]).strip(" \n]"):
                self.calls, self.start = calls, at
                return
        while self.has_room and (mark := _MARK.search(self._text, at)):
            place, at = mark.span()
            if mark["thought"]:
                continue
            if mark["mark"]:
                self._miss(place)
                self._promised = at
            calls, end = self._behind(at) if mark["mark"] else self._object(place)
            if calls or self._promised is not None:
                self.start = min(self.start, place)
            if calls:
                self.calls += calls
                self._promised, at = None, end
        self._miss(len(self._text))

    def _miss(self, end: int) -> None:
        """Record a mark that no call has followed; one mark may stand right before another."""
        if self._promised is None:
            return
        begin, self._promised = self._promised, None
        brace = _NEXT.match(self._text, begin, end)
        past = (
            closing(self._text, brace.end() - 1) if brace else None
        ) or begin  # a mark inside an object ends nothing
        close = _END.search(self._text, past, end)
        inner = self._text[begin : close.start() if close else end].strip()
        if inner or close or (end == len(self._text) and not self.calls):
            self.broken.append(fault(inner))

    def _behind(self, at: int) -> tuple[list[_Call], int]:
        """Return the calls that begin with a name right behind a mark, and their end."""
        text = self._text
        calls, end = self._python(at)
        if calls or (named := _NAMED.match(text, at)) is None:
            return calls, end
        at = named.end()
        if text.startswith("{", at):
            written, at = self.value(at)
        else:
            given: dict[str, str] = {}
            while parameter := _PARAMETER.match(text, at):
                key, value = parameter["key"] or parameter["key2"], parameter["value"] or parameter["value2"] or ""
                given[key.strip()] = value.removeprefix("\n").removesuffix("\n")
                at = parameter.end()
            written = json.dumps(given) if given or text.startswith("</", at) else None
        self._failures += written is None
        return ([] if written is None else [(named["name"], written)]), at

    def _python(self, at: int) -> tuple[list[_Call], int]:
        """Return the calls that are written as Python from an offset on, and their end."""
        calls = list[_Call]()
        while (call := _PYTHON.match(self._text, at)) and (end := closing(self._text, call.end() - 1)):
            arguments = repaired(f"{{{self._text[call.end() : end - 1]}}}")
            if not isinstance(arguments, dict):
                break
            calls.append((call["name"], json.dumps(arguments)))
            at = end
        return calls, at

    def value(self, place: int, *, repairs: bool = True) -> tuple[str | None, int]:
        """Return the object at an offset as it is written, or repaired, and its end; None if it is none."""
        try:
            end = json.JSONDecoder().raw_decode(self._text, place)[1]
            self._room -= end - place
            return self._text[place:end], end
        except (ValueError, RecursionError) as error:
            self._failures += 1
            self._room -= getattr(error, "pos", place) - place
        if not repairs:
            return None, place
        end = closing(self._text, place) or place
        self._room -= (end - place) or LONGEST_REPAIRED
        value = repaired(self._text[place:end])
        return (json.dumps(value) if isinstance(value, dict) else None), end

    def _object(self, place: int) -> tuple[list[_Call], int]:
        """Return the call that an object is, and its end."""
        is_next = self._promised is not None and not self._text[self._promised : place].strip(" \r\n[,")
        is_begun = _BEGUN.match(self._text, place) is not None
        written, end = self.value(place, repairs=is_next or is_begun)
        call = None if written is None else _call(_members(written), is_marked=is_next)
        if written is None and is_begun and self._promised is None:
            self._promised = place
        return ([] if call is None else [call]), end


def _members(text: str) -> dict[str, str]:
    """Return the members of a JSON object, each value in its original text."""
    scan = json.JSONDecoder().raw_decode
    members: dict[str, str] = {}
    place = _past_gap(text, 1)
    while text[place] != "}":
        name, end = scan(text, place)
        begin = _past_gap(text, end)
        end = scan(text, begin)[1]
        members[name], place = text[begin:end], _past_gap(text, end)
    return members


def _past_gap(text: str, place: int) -> int:
    while text[place] in " \t\r\n:,":
        place += 1
    return place


def _call(members: Mapping[str, str], *, is_marked: bool) -> _Call | None:
    """Return the call that an object is; behind a mark also `{NAME: {...}}`."""
    if is_marked and len(members) == 1:
        ((alone, written),) = members.items()
        return (alone, written) if written.startswith("{") else None
    for said, written in product(*([members[each] for each in of if each in members] for of in (_NAMES, _GIVEN))):
        try:
            name = decode(said)
            inner = decode(written) if written.startswith('"') else None  # some models quote the object once more
        except ValueError:
            continue
        if isinstance(name, str):
            return name, inner if isinstance(inner, str) else written
    return None

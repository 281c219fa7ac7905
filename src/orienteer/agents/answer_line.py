r"""The answer in a reply's `\answer{...}`: the one place where the wrapper is read.

GraphScout (003), 3.4.2 and B.4.2: an answer without it is none. What is read, and how:

- The last wrapper counts, and of one inside another the inner one.
- Braces nest; `\{` and `\}` are characters. LaTeX inside is kept, but that an answer wholly in `\text{...}` or another
  command of style, or between dollar signs, is freed of it, and that `\_`, `\%`, `\&`, `\$`, `\#` lose their backslash.
- An answer may have several lines, as lists have. One whose brace never closes ends with its line.
- What stands in `<think>...</think>`, in `<tool_call>...</tool_call>` or in `<tool_response>...</tool_response>` is no
  answer; neither is the rule said again: `\answer{...}`, `\answer{FINAL_ANSWER}`. `\boxed{}` is another wrapper.
- Text after it is let be, and said.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_WRAPPER = re.compile(r"\\answer[ \t]*\{")
_ASIDE = re.compile(r"<(think|tool_call|tool_response)>")
_THOUGHT = "</think>"
_STYLED = re.compile(r"\\(?:text|textbf|textit|texttt|textrm|mathrm|mathbf|mathit|mathsf|emph)\s*\{")
_ESCAPED = re.compile(r"\\([{}_%&$#])")
_MOST = 20
"""How many wrappers of a reply are read, from its end: no reply has more that mean anything."""
_PLACEHOLDERS = frozenset({"...", "…", "FINAL_ANSWER", "<FINAL_ANSWER>"})


class AnswerLine(NamedTuple):
    """An answer, and how it was written."""

    text: str
    """What the wrapper holds; empty where it holds nothing."""
    is_closed: bool
    """Whether its brace is closed."""
    is_last: bool
    """Whether only closing marks follow it, as the rule asks."""

    @property
    def notes(self) -> tuple[str, ...]:
        """How the answer breaks the rule."""
        notes = []
        if not self.is_closed:
            notes.append(r"the brace of \answer{ is never closed: its line was taken")
        if not self.is_last:
            notes.append(r"text follows \answer{}: it was passed over")
        return tuple(notes)


def answer_in(text: str) -> str | None:
    r"""Return what the last `\answer{...}` of a reply holds; None where there is none."""
    line = read(text)
    return None if line is None else line.text


def read(text: str) -> AnswerLine | None:
    """Return the answer of a reply with how it was written; None where there is none."""
    spoken = _without_asides(text)
    for wrapper in reversed(list(_WRAPPER.finditer(spoken))[-_MOST:]):
        end = _closing(spoken, wrapper.end())
        if end is None:
            inner, rest = _line(spoken[wrapper.end() :]), ""
        else:
            inner, rest = spoken[wrapper.end() : end], spoken[end + 1 :]
        if (plain := _plain(inner)) not in _PLACEHOLDERS:
            return AnswerLine(plain, end is not None, not rest.strip(" \t\r\n`*.$}"))
    return None


def _without_asides(text: str) -> str:
    """Leave out thoughts and calls; a thought that never ends takes the rest with it."""
    parts, at = [], 0
    for opening in _ASIDE.finditer(text):
        if opening.start() < at:
            continue
        parts.append(text[at : opening.start()])
        close = f"</{opening[1]}>"
        end = text.find(close, opening.end())
        if end < 0:
            at = len(text)
            break
        at = end + len(close)
    spoken = "\n".join((*parts, text[at:]))
    return spoken[spoken.rfind(_THOUGHT) + len(_THOUGHT) :] if _THOUGHT in spoken else spoken  # opened in the prompt


def _closing(text: str, start: int) -> int | None:
    """Return where the brace that is open at `start` closes; None where it does not."""
    depth, at = 1, start
    while at < len(text):
        character = text[at]
        if character == "\\":
            at += 1  # what follows is a character, also a brace
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if not depth:
                return at
        at += 1
    return None


def _line(text: str) -> str:
    """Return the first line that is not blank."""
    return next((line for line in text.splitlines() if line.strip()), "")


def _plain(inner: str) -> str:
    """Return an answer freed of the marks that only style it."""
    lines = (" ".join(line.split()) for line in inner.splitlines())
    text = "\n".join(line for line in lines if line)
    while True:
        styled = _STYLED.match(text)
        if styled and _closing(text, styled.end()) == len(text) - 1:
            text = text[styled.end() : -1].strip()
        elif len(text) > 1 and text[0] == text[-1] == "$" and "$" not in text[1:-1] and text[-2] != "\\":
            text = text[1:-1].strip()
        else:
            return _ESCAPED.sub(r"\1", text)

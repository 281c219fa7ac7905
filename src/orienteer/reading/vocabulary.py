"""The words of a language, by what they are to the grammar: `vocabulary.toml`, which a translator can read."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

_OPENING = ("polite", "listing", "counting")


class Language:
    """The words of one language."""

    def __init__(self, file: Path) -> None:
        """Read a file of words. A key that a rule asks for and the file lacks is an error of the program."""
        known = tomllib.loads(file.read_text(encoding="utf-8"))
        self.words = {key: frozenset(text.split()) for key, text in known["words"].items()}
        """Sets of single words."""
        self.phrases = {
            key: tuple(" ".join(phrase.split()) for phrase in text.split(",")) for key, text in known["phrases"].items()
        }
        """Phrases of several words, the longer before its beginning."""
        self.by_first: dict[str, dict[str, list[list[str]]]] = {}
        """The words of each key's phrases, by the first of them."""
        for key, phrases in self.phrases.items():
            first = self.by_first[key] = {}
            for words in map(str.split, phrases):
                first.setdefault(words[0], []).append(words)
        self.opening = {word for key in _OPENING for phrase in self.phrases[key] for word in phrase.split()}
        """Words that begin questions, none of which is mistyped."""


@cache
def english_words() -> Language:
    """Return the words of English."""
    return Language(Path(__file__).parent / "vocabulary.toml")

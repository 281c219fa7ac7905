"""The text of a file's bytes: by its mark, as UTF-8, else in the encoding whose words look like words."""

from __future__ import annotations

import codecs
import io
import itertools
import re
import unicodedata
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, NamedTuple

from orienteer.errors import BadInput
from orienteer.ingest.formats.files import READ, UTF8, opened

SAMPLE = 1 << 16
"""Bytes at the beginning of a file that show whether it is text, and in which encoding."""
WESTERN = "cp1252"
"""The encoding of bytes that nothing else explains better."""
UNICODE = frozenset(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
"""Encodings that nobody has to be told of: bytes in them do not decode by chance."""
NAMES = {
    "cp1250": "Windows-1250 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "cp1252": "Windows-1252 (Western, Latin-1)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "cp932": "Shift JIS",
    "iso8859_2": "ISO 8859-2 (Central European)",
}
"""Encodings as people call them."""
_MARKS = (
    (codecs.BOM_UTF8, UTF8),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks, the longer ones before those that they begin with."""
_CODE_PAGES = ("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "iso8859_2")
"""Code pages of a byte a letter that programs save. A later one has to fit better than an earlier one."""
_LANGUAGES = (
    *("äöüß", "éèêëàâçôûùîïœæ", "áéíóúüñ", "ãõçáéíóúâêôà", "àèéìíòóù", "åäöé", "åæøéö", "ðþáéíóúýæö", "éëïöüáóè"),
    *("áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "ąćęłńóśźż", "áéíóöőúüű", "čćđšž", "ăâîșțşţ", "çğıöşüâîi\u0307"),
)
"""The letters beyond ASCII of languages in Latin letters: German, French ..., then Czech, Slovak, Polish ..."""
_OTHERS = [
    *("cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r", "iso8859_2"),
    *("cp932", "euc_jp", "gb18030", "big5", "cp949"),
]
"""Encodings to choose from if none of the code pages fits. Others are rare, and each makes the choice less sure."""
_LEAST_FITNESS = 0.8
"""Fitness above which a code page is taken without a look at the others."""
_FEWEST_PAIRS = 8
"""Pairs of bytes that show UTF-16."""
_SPECIAL_LINES = 400
"""Lines with letters beyond ASCII that are enough to tell an encoding."""
_MOST_CONTROLS = 0.02
"""Share of control characters in a text. Pictures and programs have some 10 %; logs with colours use ESC, which is
not counted."""
_CONTROLS = bytes(range(9)) + b"\x0b" + bytes(range(14, 27)) + bytes(range(28, 32)) + b"\x7f"
_SPECIAL_LINE = re.compile(rb"^.*[\x80-\xff].*$", re.MULTILINE)
_SPECIAL, _DAMAGED = re.compile(r"[^\x00-\x7f]"), re.compile(r"[\udc80-\udcff]")
"""Letters beyond ASCII, and what stands for bytes that are no UTF-8."""
_LATIN_END = 0x250
"""The first character after the Latin letters."""


class DecodedText(NamedTuple):
    """The text of a file."""

    text: str
    encoding: str
    """As Python calls it; `utf-8` for ASCII, `cp1252` for bytes that nothing else explains better."""


def read_text(path: Path, packed: bytes | None = None) -> DecodedText:
    """Return a file's text, unpacked if it is a gzip, with its line ends as `\\n`; of its bytes `packed` if given.

    Raises `BadInput` for bytes that are not text.
    """
    with opened(path, content=packed) as stream:
        content = stream.read()
    if not is_text(content[:SAMPLE]):
        raise BadInput("no text: its bytes are those of a binary file")
    text, encoding = decoded(content)
    if "\0" in text:
        raise BadInput("no text: its bytes are those of a binary file")
    return DecodedText(text.replace("\r\n", "\n").replace("\r", "\n"), encoding)


def is_text(head: bytes) -> bool:
    """Return whether the first bytes of a file are text: no NUL unless it is UTF-16, hardly any controls."""
    if _stated(head) is not None:
        return True
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return b"\0" not in head and controls <= _MOST_CONTROLS * len(head)


def decoded(content: bytes, *, is_part: bool = False) -> tuple[str, str]:
    """Return the text of some bytes and its encoding. Raises `BadInput` for a mark that its bytes contradict.

    Those that are part of a text may end within a letter.
    """
    encoding = _encoding_in(io.BytesIO(content))
    is_marked = content.startswith(tuple(mark for mark, _ in _MARKS))
    try:
        text = content.decode(encoding, "strict" if is_marked and not is_part else "replace")
        return text, encoding if is_marked or encoding != UTF8 else "utf-8"
    except UnicodeDecodeError as error:
        raise BadInput(f"marked as {encoding}, but byte {error.start} is none: save it as UTF-8") from error


def encoding_of(path: Path) -> str:
    """Return the encoding of a text file, `utf-8-sig` for UTF-8 with or without a mark.

    A text of UTF-8 that is damaged in places is one of UTF-8.
    """
    status = path.stat()
    return _encoding_of(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=256)  # asked for each reading of a table
def _encoding_of(path: Path, size: int, modified: int) -> str:
    with opened(path) as raw:
        return _encoding_in(raw)


def _encoding_in(raw: BinaryIO) -> str:
    """Return the encoding of a stream. It is UTF-8 if the first block with letters has more whole than damaged ones."""
    special: list[bytes] = []
    content = raw.read(READ)
    if stated := _stated(content[:SAMPLE]):
        return stated
    while content and b"\0" not in content:  # else it is no text at all
        if not content.isascii():
            content += raw.readline()  # whole lines, so that no letter is cut
            text = content.decode("utf-8", "surrogateescape")
            if len(_SPECIAL.findall(text)) >= 2 * len(_DAMAGED.findall(text)):  # valid ones are no fewer
                return UTF8
            special += (match[0] for match in _SPECIAL_LINE.finditer(content))
            del special[_SPECIAL_LINES:]
        content = raw.read(READ)
    return _likeliest(b"\n".join(special)[:SAMPLE]) if special and not content else UTF8


def _stated(head: bytes) -> str | None:
    """Return the encoding that a mark states, or UTF-16 if every other byte is NUL; else None."""
    marked = next((encoding for mark, encoding in _MARKS if head.startswith(mark)), None)
    if marked is not None:
        return marked
    even, odd = head[::2].count(0), head[1::2].count(0)
    pairs = len(head) // 2
    if pairs < _FEWEST_PAIRS:
        return None
    if odd > pairs * 0.7 and not even:
        return "utf-16-le"
    return "utf-16-be" if even > pairs * 0.7 and not odd else None


def _likeliest(sample: bytes) -> str:
    """Return the encoding of lines with bytes that are not UTF-8.

    A code page is taken if its letters form words. Otherwise scripts are told apart by charset-normalizer; for Latin
    letters the page that fits best is taken, if any fits, and Windows-1252 for signs alone.
    """
    fitness = {name: _fitness(sample, name) for name in _CODE_PAGES}
    if fitting := [name for name in _CODE_PAGES if fitness[name] >= _LEAST_FITNESS]:
        return max(fitting, key=lambda name: _fluency(sample.decode(name, "replace")))
    best_page = max(_CODE_PAGES, key=lambda name: (fitness[name], _fluency(sample.decode(name, "replace"))))
    from charset_normalizer import from_bytes  # some 20 ms, for files that are rare

    best = from_bytes(sample, cp_isolation=_OTHERS).best()
    letters = [letter for letter in str(best or "") if letter > "\x7f" and letter.isalpha()]
    if best is None or not letters:  # signs alone, such as quotation marks
        return WESTERN
    foreign = sum(not unicodedata.name(letter, "LATIN").startswith("LATIN") for letter in letters)
    return best_page if foreign <= len(letters) / 2 and fitness[best_page] > 0 else best.encoding


def _fitness(sample: bytes, encoding: str) -> float:
    """Return how many letters beyond ASCII are in words of one script and in the case of words: from -1 to 1."""
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError:
        return -1.0
    good = bad = 0
    for word in "".join(letter if letter.isalpha() or letter > "\x7f" else " " for letter in text).split():
        special = sum(letter > "\x7f" for letter in word)
        if not special or len(word) == 1:  # a sign alone, such as the euro, shows nothing
            continue
        if _is_word(
            word.strip("\xa0\xab\xbb\u2018\u2019\u201a\u201c\u201d\u201e\u2013\u2014\u2026\u20ac\xb0"), special
        ):
            good += special
        else:
            bad += special
    return (good - bad) / (good + bad or 1)


def _fluency(text: str) -> float:
    """Return the share of a text's letters beyond ASCII that one language has: of the language that has most."""
    special = Counter(letter for letter in text.lower() if letter > "\x7f" and letter.isalpha())
    latin = {letter: count for letter, count in special.items() if ord(letter) < _LATIN_END}
    known = max(sum(count for letter, count in latin.items() if letter in each) for each in _LANGUAGES)
    return (special.total() - sum(latin.values()) + known) / (special.total() or 1)


def _is_word(word: str, special: int) -> bool:
    """Return whether letters form a word; Latin ones have accents on few letters, and no capital after a small one."""
    if not word.isalpha():
        return not word
    latin = sum(1 for letter in word if ord(letter) < _LATIN_END)
    if latin == len(word):
        changes = any(one.islower() and other.isupper() for one, other in itertools.pairwise(word))
        return not changes and (len(word) <= 2 or 2 * special <= len(word))
    return not latin and (word.islower() or word.isupper() or word.istitle())

"""The tokenizer of BERT's uncased models, built from its word list: lower-cased WordPiece (Schuster and Nakajima 2012).

It gives the same tokens as the published `tokenizer.json` of all-MiniLM-L6-v2.
"""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING

from orienteer.errors import BadInput, MissingExtra

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WORDS = "vocabulary.txt"
WORDS_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_LONGEST_WORD = 100  # characters; a longer word is unknown. BERT's own limit


def bert_words() -> tuple[str, ...]:
    """Return the word list that ships with the package. Raises `BadInput` where it has been changed."""
    content = files(__package__).joinpath(WORDS).read_bytes()
    check_hash(content, WORDS_SHA256, what=f"the word list {WORDS}")
    return tuple(content.decode().split("\n")[:-1])


def wordpiece(words: tuple[str, ...]) -> Tokenizer:
    """Return the tokenizer of a word list; a piece's place is its number. Raises `MissingExtra`."""
    try:
        from tokenizers import AddedToken, Tokenizer
        from tokenizers.models import WordPiece
        from tokenizers.normalizers import BertNormalizer
        from tokenizers.pre_tokenizers import BertPreTokenizer
        from tokenizers.processors import BertProcessing
    except ModuleNotFoundError as error:
        raise MissingExtra("a local embedder", "dense") from error
    numbers = {word: place for place, word in enumerate(words)}
    tokenizer = Tokenizer(WordPiece(numbers, unk_token="[UNK]", max_input_chars_per_word=_LONGEST_WORD))
    tokenizer.add_special_tokens([AddedToken(word, normalized=False, special=True) for word in _SPECIAL])
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", numbers["[SEP]"]), ("[CLS]", numbers["[CLS]"]))
    return tokenizer


def check_hash(content: bytes, sha256: str, *, what: str) -> None:
    """Raise `BadInput` where a file's content has another hash."""
    actual = hashlib.sha256(content).hexdigest()
    if actual != sha256:
        raise BadInput(f"{what} has the sha256 {actual[:16]}..., expected {sha256[:16]}...: install it again")

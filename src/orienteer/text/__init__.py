"""Texts as words: tokenizer, sentences, phrases, names."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "english": "ASKING as ASKING_WORDS, STOP as STOP_WORDS, telling_words",
        "numbers": "numbers_in, spelled_numbers",
        "proper_names": "idf as name_idf, most_chunks, surfaces as title_surfaces",
        "sentences": (
            "CHARACTERS_A_TOKEN_OF_IDS, Phrases as PhraseRanking, snippet, split as split_sentences, "
            "tokens as count_tokens"
        ),
        "token_arrays": "token_starts",
        "tokenizer": "plural, Tokenizer",
    },
)

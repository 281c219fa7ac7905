"""From text to rankings: words, postings, names, vectors."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "arrays": "Folder as ArrayFolder, Strings, StringWriter",
        "bm25": "ScoredRows",
        "embedders": "open_embedder",
        "embedders.minilm": "minilm as open_minilm",
        "embedders.onnx": "bert_words, OnnxEmbedder, TokenReading, unit as unit_rows, wordpiece as open_wordpiece",
        "embedders.served": "ServedEmbedder",
        "name_scan": "CaseCounts, NameScan",
        "names": "NameKind, NamesWriter",
        "postings": "PostingsWriter",
        "searchers": (
            "concatenate as concatenate_lists, DenseSearcher, HybridSearcher, KeyedCache, Ranking as RankingMode, "
            "ranking_of as ranking_mode_of, "
            "shuffle as shuffle_lists, TitleBonus, vote as vote_lists, VoteCount, WEIGHT as SEARCH_WEIGHT"
        ),
        "vector_cache": "CacheWriter, folder_of as vector_folder_of, keys_of as vector_keys_of, VectorCache",
        "vectors": "create_halves, LEAST_RECALL, VectorIndex, write_index",
        "words": "phrase_hash, split as split_words, word_hash, WordNumbers",
    },
)

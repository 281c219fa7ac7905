"""A question read exactly: words to a typed query over the schema, executed over the arrays, and put in words."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "foreign": "Foreign, ForeignReader, foreign_languages",
        "executor": "Executor as QueryExecutor",
        "line": "parse as parse_reading_line",
        "linker": "AnchorConfig, PhraseLinker",
        "overview": "Overview",
        "phrasing": "base_of as verb_base_of, participle_of, relation as relation_phrases, words_of",
        "quantities": "converted as converted_quantity, quantity as quantity_at, Written as WrittenWord",
        "questions": "read_queries",
        "reader": "RulesReader",
        "rules": "ALL as all_rules, unknown_words",
        "vocabulary": (
            "abbreviates as abbreviates_type, alike as stem_likeness, english_words, read as words_of_question, "
            "SchemaWords, split_label"
        ),
    },
)

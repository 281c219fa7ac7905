"""From a question to a result: a module or a folder for each method."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "anchor.anchor": "Anchor",
        "anchor.reach": "unite_sorted",
        "anchor.scorer": "highest_places",
        "ark": "Ark, ArkConfig",
        "bases": "KnowledgeBaseMethod",
        "documents.abstention": "match_statistics, names_of as names_in_question, QuestionTerms",
        "documents.documents": "asked_for as documents_asked_for",
        "flat": "Bm25, Dense, Hybrid, HybridConfig",
        "graphscout": "GraphScout, GraphScoutConfig",
        "graphsearch.graphsearch": "GraphSearch",
        "graphsearch.inquiry": "side_by_side as stages_side_by_side, Stage as InquiryStage",
        "graphsearch.queries": (
            "ANSWER as ANSWER_SCHEMA, CONCLUSION as CONCLUSION_SCHEMA, Findings, GraphSearchConfig, "
            "history as sub_query_history, labels_in as labels_in_text, plan_faults, read_plan, "
            "STUDY as STUDY_SCHEMA, sub_answer_of, SubAnswer, SubQuery, triples_of, words_of as words_of_sub_answer"
        ),
        "sage.hop": (
            "EdgeWeight, Expander as SeedExpander, LAYER as SIMILAR_LAYER, LinkingRows, OneHop, SageConfig, "
            "seeds_of, TOTALS as SAGE_TOTALS"
        ),
        "sage.sage": "names_an_edge, Sage",
        "spark.examples": "examples_of, prompt_for, property_uses",
        "spark.execution": "before_jump",
        "spark.plan": "AGGREGATES, check as check_plan, COMPARISONS, KINDS as PLAN_KINDS, SCHEMA as PLAN_SCHEMA",
        "spark.spark": "Spark, SparkConfig",
        "table": "AUTO, cards as method_cards, method_of, method_of_settings, MethodCard, METHODS, options_by_method",
    },
)

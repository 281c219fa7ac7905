"""From a question to a result: a module or a folder for each method."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "anchor.connections": "unite_sorted",
        "anchor.method": "Anchor",
        "anchor.scorer": "highest_places",
        "ark": "Ark, ArkConfig",
        "bases": "KnowledgeBaseMethod",
        "card": "MethodCard",
        "documents.abstention": "grounds as match_statistics, names_of as names_in_question",
        "documents.mention": "asked_for as documents_asked_for",
        "flat.bm25": "Bm25",
        "flat.dense": "Dense",
        "flat.hybrid": "Hybrid, HybridConfig",
        "graphscout.config": "GraphScoutConfig",
        "graphscout.method": "GraphScout",
        "graphsearch.config": "GraphSearchConfig",
        "graphsearch.inquiry": "side_by_side as stages_side_by_side, Stage as InquiryStage",
        "graphsearch.method": "GraphSearch",
        "graphsearch.queries": "plan_faults, read_plan, SubQuery, triples_of",
        "graphsearch.sub_answers": (
            "ANSWER as ANSWER_SCHEMA, CONCLUSION as CONCLUSION_SCHEMA, Findings, history as sub_query_history, "
            "labels_in as labels_in_text, STUDY as STUDY_SCHEMA, sub_answer_of, SubAnswer, "
            "words_of as words_of_sub_answer"
        ),
        "sage.config": "SageConfig, seeds_of, TOTALS as SAGE_TOTALS",
        "sage.hop": "EdgeWeight, LAYER as SIMILAR_LAYER, LinkingRows, OneHop",
        "sage.method": "names_an_edge, Sage",
        "sage.union": "Expander as SeedExpander",
        "spark.check": "check as check_plan, has_cypher",
        "spark.examples": "examples_of",
        "spark.execution": "before_jump",
        "spark.method": "Spark, SparkConfig",
        "spark.plan": "KINDS as PLAN_KINDS, SCHEMA as PLAN_SCHEMA",
        "spark.profile": "property_uses",
        "spark.prompt": "prompt_for",
        "table": "AUTO, cards as method_cards, method_of, method_of_settings, METHODS, options_by_method",
    },
)

"""From a question to a result: a module or a folder for each method."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "anchor.config": "AnchorConfig",
        "anchor.connections": "unite_sorted",
        "anchor.linker": "PhraseLinker",
        "anchor.method": "Anchor",
        "anchor.reading.execution": "Executor as QueryExecutor",
        "anchor.reading.line": "parse as parse_reading_line",
        "anchor.reading.quantities": "Written as WrittenWord, converted as converted_quantity, quantity as quantity_at",
        "anchor.reading.reader": "QuestionReader",
        "anchor.scorer": "highest_places",
        "anchor.words": (
            "SchemaWords, abbreviates as abbreviates_type, alike as stem_likeness, read as words_of_question, "
            "split_label"
        ),
        "ark": "Ark, ArkConfig",
        "baselines.action": "ActionCall, parse as parse_actions, split as split_arguments",
        "baselines.agr": "Agr, AgrConfig",
        "baselines.cypher_answer": "CypherAnswer, CypherConfig, NO_QUERY, query_in",
        "baselines.cypher_pattern": "read as read_cypher_pattern",
        "baselines.expansion": "LONGEST as LONGEST_EXPANSION",
        "baselines.focusedr": "FocusedR, FocusedRConfig, widths as grounding_widths",
        "baselines.four_step_focus": "FourStepFocus, FourStepFocusConfig",
        "baselines.graph_cot": "GraphCot, GraphCotConfig",
        "baselines.graph_counselor": "GraphCounselor, GraphCounselorConfig, UNSOUND as UNSOUND_NOTE",
        "baselines.graph_rag": "GraphRag, GraphRagConfig",
        "baselines.hyde": "Hyde, HydeConfig, MOST_PASSAGES",
        "baselines.ircot": "IrCotConfig",
        "baselines.kar": "Kar, KarConfig",
        "baselines.linearized": "Linearizer, render_nodes",
        "baselines.listwise": "ListwiseReranker, document as document_of_hit, in_order as hits_in_order",
        "baselines.polyg": "NO_PLAN, PolyG, PolyGConfig",
        "baselines.rar": "Rar, RarConfig",
        "baselines.react": "React, ReactConfig",
        "baselines.reflexion": "Reflexion, ReflexionConfig",
        "baselines.search_o1": (
            "AGAIN as SEARCHED_BEFORE, EMPTY as SEARCH_FOUND_NOTHING, NONE_LEFT as NO_SEARCH_LEFT, SearchO1Config"
        ),
        "baselines.text_rag": "TextRag, TextRagConfig",
        "baselines.think_on_graph": "ThinkOnGraph, ThinkOnGraphConfig",
        "baselines.triplet_pattern": (
            "Symbol as TripletSymbol, Triplet, TripletPattern, ground as ground_pattern, mixed as mixed_rows, "
            "resolved as resolved_pattern"
        ),
        "baselines.vanilla": "NOTHING as VANILLA_NOTE, Vanilla",
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
        "graphsearch.inquiry": "Stage as InquiryStage, side_by_side as stages_side_by_side",
        "graphsearch.method": "GraphSearch",
        "graphsearch.queries": "SubQuery, plan_faults, read_plan, triples_of",
        "graphsearch.sub_answers": (
            "ANSWER as ANSWER_SCHEMA, CONCLUSION as CONCLUSION_SCHEMA, Findings, STUDY as STUDY_SCHEMA, SubAnswer, "
            "history as sub_query_history, labels_in as labels_in_text, sub_answer_of, "
            "words_of as words_of_sub_answer"
        ),
        "sage.config": "SageConfig, TOTALS as SAGE_TOTALS, seeds_of",
        "sage.hop": "EdgeWeight, LAYER as SIMILAR_LAYER, LinkingRows, OneHop",
        "sage.method": "Sage, names_an_edge",
        "sage.union": "Expander as SeedExpander",
        "spark.check": "check as check_plan, has_cypher",
        "spark.examples": "examples_of",
        "spark.execution": "before_jump",
        "spark.method": "Spark, SparkConfig",
        "spark.plan": "KINDS as PLAN_KINDS, SCHEMA as PLAN_SCHEMA",
        "spark.profile": "property_uses",
        "spark.prompt": "prompt_for",
        "table": "AUTO, METHODS, cards as method_cards, method_of, method_of_settings, options_by_method",
    },
)

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "focusedr": (
            "CypherAnswer, CypherConfig, FocusedR, FocusedRConfig, NO_QUERY, query_in, read as read_cypher_pattern, "
            "widths as grounding_widths"
        ),
        "graph_cot": (
            "ActionCall, GraphCot, GraphCotConfig, GraphCounselor, GraphCounselorConfig, parse as parse_actions, "
            "split as split_arguments, UNSOUND as UNSOUND_NOTE"
        ),
        "ircot": (
            "AGAIN as SEARCHED_BEFORE, EMPTY as SEARCH_FOUND_NOTHING, IrCotConfig, NONE_LEFT as NO_SEARCH_LEFT, "
            "SearchO1Config"
        ),
        "listwise": (
            "Agr, AgrConfig, document as document_of_hit, in_order as hits_in_order, Kar, KarConfig, "
            "ListwiseReranker, LONGEST as LONGEST_EXPANSION, Rar, RarConfig"
        ),
        "polyg": "NO_PLAN, PolyG, PolyGConfig",
        "react": "NOTHING as VANILLA_NOTE, React, ReactConfig, Reflexion, ReflexionConfig, Vanilla",
        "text_rag": (
            "GraphRag, GraphRagConfig, Hyde, HydeConfig, Linearizer, MOST_PASSAGES, render_nodes, TextRag, "
            "TextRagConfig"
        ),
        "think_on_graph": "ThinkOnGraph, ThinkOnGraphConfig",
        "triplet_pattern": (
            "FourStepFocus, FourStepFocusConfig, ground as ground_pattern, mixed as mixed_rows, "
            "resolved as resolved_pattern, Symbol as TripletSymbol, Triplet, TripletPattern"
        ),
    },
)

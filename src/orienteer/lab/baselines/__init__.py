from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "action": "ActionCall, parse as parse_actions, split as split_arguments",
        "agr": "Agr, AgrConfig",
        "cypher_answer": "CypherAnswer, CypherConfig, NO_QUERY, query_in",
        "cypher_pattern": "read as read_cypher_pattern",
        "expansion": "LONGEST as LONGEST_EXPANSION",
        "focusedr": "FocusedR, FocusedRConfig, widths as grounding_widths",
        "four_step_focus": "FourStepFocus, FourStepFocusConfig",
        "graph_cot": "GraphCot, GraphCotConfig",
        "graph_counselor": "GraphCounselor, GraphCounselorConfig, UNSOUND as UNSOUND_NOTE",
        "graph_rag": "GraphRag, GraphRagConfig",
        "hyde": "Hyde, HydeConfig, MOST_PASSAGES",
        "ircot": "IrCotConfig",
        "kar": "Kar, KarConfig",
        "linearized": "Linearizer, render_nodes",
        "listwise": "document as document_of_hit, in_order as hits_in_order, ListwiseReranker",
        "polyg": "NO_PLAN, PolyG, PolyGConfig",
        "rar": "Rar, RarConfig",
        "react": "React, ReactConfig",
        "reflexion": "Reflexion, ReflexionConfig",
        "search_o1": "AGAIN as SEARCHED_BEFORE, EMPTY as SEARCH_FOUND_NOTHING, NONE_LEFT as NO_SEARCH_LEFT, SearchO1Config",
        "text_rag": "TextRag, TextRagConfig",
        "think_on_graph": "ThinkOnGraph, ThinkOnGraphConfig",
        "triplet_pattern": (
            "ground as ground_pattern, mixed as mixed_rows, resolved as resolved_pattern, Symbol as TripletSymbol, "
            "Triplet, TripletPattern"
        ),
        "vanilla": "NOTHING as VANILLA_NOTE, Vanilla",
    },
)

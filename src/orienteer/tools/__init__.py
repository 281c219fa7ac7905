"""What an agent may call: data (name, JSON schema) and a function each, over one session."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "answer": "AddToAnswer, Finish, RemoveFromAnswer",
        "code.config": "CodeConfig, lowered as lowered_limits_of_code",
        "code.interpreter": "CodeInterpreter, DIALECT as CODE_DIALECT, ServedCypher, SPEC as CODE_SPEC",
        "cypher": "RunCypher",
        "evidence": "arguments_of as evidence_arguments, GatherEvidence, matching_arguments, MatchTriples",
        "listing": "ListNodes",
        "node_ids": "MOST_QUERIES, MOST_TOPK, NodeIdRetriever, SPEC as NODE_IDS_SPEC",
        "offer": (
            "Course as DecodingState, LONGEST_TEXT, MOST_NAMED, names_in as names_in_argument, NamesOfQuestion, "
            "offered as offered_tools"
        ),
        "package_tool": "PackageTool",
        "parameters": (
            "count as count_schema, LARGEST_K, NEIGHBORS_K, node as node_schema, number as number_argument, "
            "SEARCH_K, spec as tool_spec, text as text_argument, texts as texts_argument"
        ),
        "search": "PLAIN as PLAIN_PARAMETERS, SearchInGraph, SearchInNeighborhood",
        "select": "AGGREGATES, COMPARISONS, Select",
        "session": "ReplyLines, Session, state as answer_state",
        "texts": "ReadNode, ReadSchema, SearchPassages",
        "toolbox": (
            "code_config, lowered_limits, open_compact, open_passages, open_plain, open_scouting, open_stateless, "
            "open_toolbox, STATELESS_TOKENS, Toolbox"
        ),
        "walks": "FindPaths, Follow, IntersectNodes",
    },
)

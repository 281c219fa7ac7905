"""The tools of an agent: data (name, JSON schema) and a function each, over one session."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "answer": "AddToAnswer, Finish, RemoveFromAnswer",
        "code": "CodeInterpreter, DIALECT as CODE_DIALECT, ServedCypher, SPEC as CODE_SPEC",
        "code_options": "CodeConfig, lowered as lowered_limits_of_code",
        "cypher": "RunCypher",
        "evidence": (
            "arguments_of as evidence_arguments, GatherEvidence, matching_arguments, MatchTriples, worth_reading"
        ),
        "node_ids": "MOST_QUERIES, MOST_TOPK, NodeIdRetriever, SPEC as NODE_IDS_SPEC",
        "search": "ListNodes, PLAIN as PLAIN_PARAMETERS, SearchInGraph, SearchInNeighborhood",
        "session": "ReplyLines, Session, state as answer_state",
        "texts": (
            "count as count_schema, LARGEST_K, NEIGHBORS_K, node as node_schema, number as number_argument, "
            "ReadNode, ReadSchema, SEARCH_K, SearchPassages, spec as tool_spec, text as text_argument, "
            "texts as texts_argument"
        ),
        "toolbox": (
            "code_config, DecodingState, LONGEST_TEXT, lowered_limits, MOST_NAMED, names_in as names_in_argument, "
            "NamesOfQuestion, offered as offered_tools, open_compact, open_passages, open_plain, open_scouting, "
            "open_stateless, open_toolbox, PackageTool, STATELESS_TOKENS, Toolbox"
        ),
        "walks": "FindPaths, Follow, IntersectNodes",
    },
)

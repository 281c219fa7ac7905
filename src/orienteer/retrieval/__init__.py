"""Knowledge bases: what a graph holds about a question, as evidence. One interface for all retrievers."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "analysis": "ModelAnalyzer, NameAnalyzer, open_analyzer",
        "bases.hippo": "Hippo, HippoConfig",
        "bases.hyper": "Hyper, HyperConfig",
        "bases.light": "Light, LightConfig",
        "bases.mini": "Mini, MiniConfig",
        "bases.msgraph": "MsGraph, MsGraphConfig",
        "bases.naive": "Naive, NaiveConfig",
        "bases.path": "Paths, PathsConfig",
        "bases.table": "BASES, RankedBase, open_base",
        "evidence": "Evidence, Scored, UNPAID as UNPAID_NOTE, render as render_evidence",
        "excerpt": "LONGEST as LONGEST_EXCERPT, Shown as SnippetTerms, excerpt as excerpt_of",
        "expansion.bipartite": "EdgesAsFacts, Handed as SparseScores, NamesInPassages, added as added_scores",
        "expansion.communities": (
            "ABOUT as COMMUNITIES_ABOUT, LARGEST as LARGEST_COMMUNITY, PIECE as COMMUNITIES_PIECE, find_communities, "
            "open_communities"
        ),
        "expansion.flow": "around as edges_around_seeds, ways as flow_paths",
        "expansion.incidence": "Incidence, open_incidence",
        "expansion.leiden": "Csr, leiden",
        "expansion.relations": "Relations, ScoredRelation",
        "expansion.seeds": "Facts as FactFinder, Seeds as SeedFinder",
        "expansion.votes": "Held as PassageMembership, Holders as MembershipIndex, vote as vote_for_passages",
        "expansion.walk": "GraphWalk, ListSums, NameWalk, carriers as carrier_names",
        "fusion": (
            "FLOOR as FUSION_FLOOR, LEAST_FIT, TRUST as FUSION_TRUST, first_of as first_of_lists, "
            "fused as fused_rows, in_turns as lists_in_turns, searched as searched_rows, shares as score_shares"
        ),
        "graph_text": (
            "PARTIAL as PARTIAL_NOTE, Presentation, arrow as edge_arrow, counts_line, edge_note, "
            "indented as indented_text, kind_line, present as present_hit, schema_lines, "
            "source_of as source_of_node, title as node_title, type_names"
        ),
        "matching.bindings": "TriplePattern",
        "matching.matcher": "MISSED as MISSED_COST, STATES as MOST_STATES, TripleMatcher",
        "matching.partners": "PARTNERS as MOST_PARTNERS, UNFIT as MOST_UNFIT, UNMATCHED as UNMATCHED_COST",
        "matching.predicate": "AGAINST as AGAINST_DIRECTION, ONE_WAY as ONE_WAY_SHARE, Predicates",
        "mentions": (
            "AnswerLinker, Policy as LinkPolicy, TypeLinker, is_akin, letter_likeness, link as link_mention, "
            "longest_names, named_in, occurrences as name_occurrences, spelled as rows_spelled, type_words, "
            "word_shares"
        ),
        "near_duplicates": "ALIKE as ALIKE_SHARE, folded as without_near_duplicates, shingles as shingles_of",
        "query": "GatherConfig, Query",
        "reading": "worth_reading",
        "schema": "describe as describe_graph, examples as code_examples",
        "spaces": "Spaces",
    },
)

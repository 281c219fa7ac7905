"""Knowledge bases: what a graph holds about a question, as evidence. One interface for all retrievers."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "analysis": "ModelAnalyzer, NameAnalyzer, open_analyzer",
        "bases.gatherer": "Naive, NaiveConfig",
        "bases.hippo": "Hippo, HippoConfig",
        "bases.light": "Light, LightConfig",
        "bases.table": "BASES, open_base, RankedBase",
        "evidence": "Evidence, render as render_evidence, Scored, UNPAID as UNPAID_NOTE",
        "expansion.incidence": "Incidence, open_incidence",
        "expansion.relations": (
            "first_of as first_of_lists, in_turns as lists_in_turns, MembershipIndex, PassageMembership, Relations, "
            "ScoredRelation, vote as vote_for_passages"
        ),
        "expansion.walk": (
            "carriers as carrier_names, Facts as FactFinder, GraphWalk, ListSums, NameWalk, Seeds as SeedFinder"
        ),
        "graph_text": (
            "ALIKE as ALIKE_SHARE, arrow as edge_arrow, counts_line, edge_note, excerpt as excerpt_of, "
            "folded as without_near_duplicates, indented as indented_text, kind_line, LONGEST as LONGEST_EXCERPT, "
            "PARTIAL as PARTIAL_NOTE, present as present_hit, Presentation, schema_lines, shingles as shingles_of, "
            "SnippetTerms, source_of as source_of_node, title as node_title, type_names"
        ),
        "matching.bindings": "TriplePattern",
        "matching.matcher": "MISSED as MISSED_COST, STATES as MOST_STATES, TripleMatcher",
        "matching.partners": "PARTNERS as MOST_PARTNERS, UNFIT as MOST_UNFIT, UNMATCHED as UNMATCHED_COST",
        "matching.predicate": "AGAINST as AGAINST_DIRECTION, ONE_WAY as ONE_WAY_SHARE, Predicates",
        "mentions": (
            "AnswerLinker, is_akin, letter_likeness, link as link_mention, longest_names, named_in, "
            "occurrences as name_occurrences, Policy as LinkPolicy, spelled as rows_spelled, type_words, TypeLinker, "
            "word_shares"
        ),
        "query": "GatherConfig, Query, Spaces",
        "schema": "describe as describe_graph, examples as code_examples",
    },
)

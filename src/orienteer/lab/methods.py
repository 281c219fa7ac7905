"""The cards of the lab's methods: what other papers compare with. Entry points of Orienteer name them."""

from __future__ import annotations

from typing import Any

from orienteer.methods.table import MethodCard


def _base(name: str, target: str, summary: str, paper: str) -> MethodCard:
    """Return the card of a retriever of `lab.bases`."""
    return _card(name, f"bases.{target}", summary, paper, is_knowledge_base=True, model="optional")


def _baseline(name: str, target: str, summary: str, paper: str, **more: Any) -> MethodCard:  # Any: fields of a card
    """Return the card of a method of `lab.baselines`, most of which need a model."""
    return _card(name, f"baselines.{target}", summary, paper, **{"model": "required", **more})


def _card(name: str, target: str, summary: str, paper: str, **more: Any) -> MethodCard:  # Any: fields of a card
    """Return the card of a class whose options are those of the class of its name with `Config` after it."""
    target = f"orienteer.lab.{target}"
    return MethodCard(name=name, target=target, summary=summary, paper=paper, **{"config": f"{target}Config", **more})


HYPER = _base(
    "hyper",
    "hyper:Hyper",
    "facts and the entities they tie together, expanded both ways, and the passages of both",
    "HyperGraphRAG (Luo et al. 2025); GraphSearch (002), section 4.1",
)
MINI = _base(
    "mini",
    "mini:Mini",
    "paths of two edges from what a question names vote for what may answer it",
    "MiniRAG (Fan et al. 2025); GraphSearch (002), section 4.1",
)
MSGRAPH_LOCAL = _base(
    "msgraph-local",
    "msgraph:MsGraph",
    "entities, their relations and passages, and reports of their communities",
    "GraphRAG (Edge et al. 2024), local search",
)
PATH = _base(
    "path",
    "path:Paths",
    "paths among what a question names, pruned by flow, and the passages that state them",
    "PathRAG (Chen et al. 2025); GraphSearch (002), section 4.1",
)
TEXT_RAG = _baseline(
    "text-rag",
    "text_rag:TextRag",
    "nodes and their edges as texts, ranked by meaning; a model answers from the best",
    "TextRAG (Gao et al. 2023); GraphScout (003), A.4",
    model="no",
    needs_vectors=True,
)
GRAPH_RAG = _baseline(
    "graph-rag",
    "text_rag:GraphRag",
    "two edges around what a question names, as text; a model answers from it",
    "GraphRAG; GraphScout (003), A.4",
    model="no",
)
REACT = _baseline(
    "react",
    "react:React",
    "one agent that thinks and searches in turn",
    "Yao et al. 2023 (ReAct); SAGE (004), C.5",
    last_turns=1,
)
IRCOT = _baseline(
    "ircot",
    "ircot:IrCot",
    "a chain of thought, each sentence of which is searched with before the next",
    "Trivedi et al. 2023 (IRCoT); GraphSearch (002), table 4",
)
SEARCH_O1 = _baseline(
    "search-o1",
    "ircot:SearchO1",
    "reasoning that asks for searches; what they find is condensed before it goes in",
    "Li et al. 2025 (Search-o1); GraphSearch (002), table 4",
)
VANILLA = _baseline(
    "vanilla",
    "react:Vanilla",
    "the bare model: an answer without any search, and no ranking",
    "GraphSearch (002), tables 1 and 4",
)
REFLEXION = _baseline(
    "reflexion",
    "react:Reflexion",
    "episodes of react, judged by the model itself, with lessons carried over",
    "Shinn et al. 2023; SAGE (004), C.6",
    last_turns=1,
)
THINK_ON_GRAPH = _baseline(
    "think-on-graph", "think_on_graph:ThinkOnGraph", "a beam search over paths, scored by the model", "Sun et al. 2024"
)
CYPHER = _baseline(
    "cypher",
    "focusedr:CypherAnswer",
    "retrieves nodes, has one Cypher query written, runs it, answers from its rows",
    "GraphScout (003), A.4",
    config="orienteer.lab.baselines.focusedr:CypherConfig",
    works_in_place=True,
)
GRAPH_COT = _baseline(
    "graph-cot",
    "graph_cot:GraphCot",
    "thought, action and observation with four graph functions",
    "Jin et al. 2024",
    works_in_place=True,
)
GRAPH_COUNSELOR = _baseline(
    "graph-counselor",
    "graph_cot:GraphCounselor",
    "plans, takes graph functions as far as the plan goes, and judges its own course",
    "Gao et al. 2025 (Graph Counselor); GraphScout (003), A.4",
)
POLYG = _baseline(
    "polyg",
    "polyg:PolyG",
    "what a question leaves open decides how the graph is asked: surroundings, paths or Cypher",
    "Liu et al. 2025 (PolyG); GraphScout (003), A.4",
)
FOUR_STEP_FOCUS = _baseline(
    "4stepfocus",
    "triplet_pattern:FourStepFocus",
    "triplets from the question, intersected over the graph, reranked",
    "Boer et al. 2024; SAGE (004), C.1",
)
FOCUSEDR = _baseline(
    "focusedr",
    "focusedr:FocusedR",
    "a small Cypher query, read and grounded with widening, reranked",
    "Boer et al. 2025; SAGE (004), C.2",
)
KAR = _baseline(
    "kar",
    "listwise:Kar",
    "expands the question by triples around what it names, then searches",
    "Xia et al. 2024 (KAR); SAGE (004), C.4",
)
HYDE = _baseline(
    "hyde",
    "text_rag:Hyde",
    "searches with a passage that a model makes up, beside the question",
    "Gao et al. 2023 (HyDE)",
)
AGR = _baseline(
    "agr",
    "listwise:Agr",
    "analyses the question, writes an expansion, refines it, searches with it",
    "Chen et al. 2024 (AGR)",
)
RAR = _baseline(
    "rar",
    "listwise:Rar",
    "searches, has answers written in the likeness of what was found, searches again",
    "Shen et al. 2024 (LameR)",
)

"""The cards of the lab's methods: what other papers compare with. Entry points of Orienteer name them."""

from __future__ import annotations

from orienteer.methods.table import MethodCard

HYPER = MethodCard(
    name="hyper",
    target="orienteer.lab.bases.hyper:Hyper",
    is_knowledge_base=True,
    config="orienteer.lab.bases.hyper:HyperConfig",
    model="optional",
    summary="facts and the entities they tie together, expanded both ways, and the passages of both",
    paper="HyperGraphRAG (Luo et al. 2025); GraphSearch (002), section 4.1",
)
MINI = MethodCard(
    name="mini",
    target="orienteer.lab.bases.mini:Mini",
    is_knowledge_base=True,
    config="orienteer.lab.bases.mini:MiniConfig",
    model="optional",
    summary="paths of two edges from what a question names vote for what may answer it",
    paper="MiniRAG (Fan et al. 2025); GraphSearch (002), section 4.1",
)
MSGRAPH_LOCAL = MethodCard(
    name="msgraph-local",
    target="orienteer.lab.bases.msgraph:MsGraph",
    is_knowledge_base=True,
    config="orienteer.lab.bases.msgraph:MsGraphConfig",
    model="optional",
    summary="entities, their relations and passages, and reports of their communities",
    paper="GraphRAG (Edge et al. 2024), local search",
)
PATH = MethodCard(
    name="path",
    target="orienteer.lab.bases.path:Paths",
    is_knowledge_base=True,
    config="orienteer.lab.bases.path:PathsConfig",
    model="optional",
    summary="paths among what a question names, pruned by flow, and the passages that state them",
    paper="PathRAG (Chen et al. 2025); GraphSearch (002), section 4.1",
)
TEXT_RAG = MethodCard(
    name="text-rag",
    target="orienteer.lab.baselines.text_rag:TextRag",
    config="orienteer.lab.baselines.text_rag:TextRagConfig",
    needs_vectors=True,
    summary="nodes and their edges as texts, ranked by meaning; a model answers from the best",
    paper="TextRAG (Gao et al. 2023); GraphScout (003), A.4",
)
GRAPH_RAG = MethodCard(
    name="graph-rag",
    target="orienteer.lab.baselines.text_rag:GraphRag",
    config="orienteer.lab.baselines.text_rag:GraphRagConfig",
    summary="two edges around what a question names, as text; a model answers from it",
    paper="GraphRAG; GraphScout (003), A.4",
)
REACT = MethodCard(
    name="react",
    target="orienteer.lab.baselines.react:React",
    config="orienteer.lab.baselines.react:ReactConfig",
    model="required",
    last_turns=1,
    summary="one agent that thinks and searches in turn",
    paper="Yao et al. 2023 (ReAct); SAGE (004), C.5",
)
IRCOT = MethodCard(
    name="ircot",
    target="orienteer.lab.baselines.ircot:IrCot",
    config="orienteer.lab.baselines.ircot:IrCotConfig",
    model="required",
    summary="a chain of thought, each sentence of which is searched with before the next",
    paper="Trivedi et al. 2023 (IRCoT); GraphSearch (002), table 4",
)
SEARCH_O1 = MethodCard(
    name="search-o1",
    target="orienteer.lab.baselines.ircot:SearchO1",
    config="orienteer.lab.baselines.ircot:SearchO1Config",
    model="required",
    summary="reasoning that asks for searches; what they find is condensed before it goes in",
    paper="Li et al. 2025 (Search-o1); GraphSearch (002), table 4",
)
VANILLA = MethodCard(
    name="vanilla",
    target="orienteer.lab.baselines.react:Vanilla",
    config="orienteer.lab.baselines.react:VanillaConfig",
    model="required",
    summary="the bare model: an answer without any search, and no ranking",
    paper="GraphSearch (002), tables 1 and 4",
)
REFLEXION = MethodCard(
    name="reflexion",
    target="orienteer.lab.baselines.react:Reflexion",
    config="orienteer.lab.baselines.react:ReflexionConfig",
    model="required",
    last_turns=1,
    summary="episodes of react, judged by the model itself, with lessons carried over",
    paper="Shinn et al. 2023; SAGE (004), C.6",
)
THINK_ON_GRAPH = MethodCard(
    name="think-on-graph",
    target="orienteer.lab.baselines.think_on_graph:ThinkOnGraph",
    config="orienteer.lab.baselines.think_on_graph:ThinkOnGraphConfig",
    model="required",
    summary="a beam search over paths, scored by the model",
    paper="Sun et al. 2024",
)
CYPHER = MethodCard(
    name="cypher",
    target="orienteer.lab.baselines.focusedr:CypherAnswer",
    config="orienteer.lab.baselines.focusedr:CypherConfig",
    model="required",
    works_in_place=True,
    summary="retrieves nodes, has one Cypher query written, runs it, answers from its rows",
    paper="GraphScout (003), A.4",
)
GRAPH_COT = MethodCard(
    name="graph-cot",
    target="orienteer.lab.baselines.graph_cot:GraphCot",
    config="orienteer.lab.baselines.graph_cot:GraphCotConfig",
    model="required",
    works_in_place=True,
    summary="thought, action and observation with four graph functions",
    paper="Jin et al. 2024",
)
GRAPH_COUNSELOR = MethodCard(
    name="graph-counselor",
    target="orienteer.lab.baselines.graph_cot:GraphCounselor",
    config="orienteer.lab.baselines.graph_cot:GraphCounselorConfig",
    model="required",
    summary="plans, takes graph functions as far as the plan goes, and judges its own course",
    paper="Gao et al. 2025 (Graph Counselor); GraphScout (003), A.4",
)
POLYG = MethodCard(
    name="polyg",
    target="orienteer.lab.baselines.polyg:PolyG",
    config="orienteer.lab.baselines.polyg:PolyGConfig",
    model="required",
    summary="what a question leaves open decides how the graph is asked: surroundings, paths or Cypher",
    paper="Liu et al. 2025 (PolyG); GraphScout (003), A.4",
)
FOUR_STEP_FOCUS = MethodCard(
    name="4stepfocus",
    target="orienteer.lab.baselines.triplet_pattern:FourStepFocus",
    config="orienteer.lab.baselines.triplet_pattern:FourStepFocusConfig",
    model="required",
    summary="triplets from the question, intersected over the graph, reranked",
    paper="Boer et al. 2024; SAGE (004), C.1",
)
FOCUSEDR = MethodCard(
    name="focusedr",
    target="orienteer.lab.baselines.focusedr:FocusedR",
    config="orienteer.lab.baselines.focusedr:FocusedRConfig",
    model="required",
    summary="a small Cypher query, read and grounded with widening, reranked",
    paper="Boer et al. 2025; SAGE (004), C.2",
)
KAR = MethodCard(
    name="kar",
    target="orienteer.lab.baselines.listwise:Kar",
    config="orienteer.lab.baselines.listwise:KarConfig",
    model="required",
    summary="expands the question by triples around what it names, then searches",
    paper="Xia et al. 2024 (KAR); SAGE (004), C.4",
)
HYDE = MethodCard(
    name="hyde",
    target="orienteer.lab.baselines.text_rag:Hyde",
    config="orienteer.lab.baselines.text_rag:HydeConfig",
    model="required",
    summary="searches with a passage that a model makes up, beside the question",
    paper="Gao et al. 2023 (HyDE)",
)
AGR = MethodCard(
    name="agr",
    target="orienteer.lab.baselines.listwise:Agr",
    config="orienteer.lab.baselines.listwise:AgrConfig",
    model="required",
    summary="analyses the question, writes an expansion, refines it, searches with it",
    paper="Chen et al. 2024 (AGR)",
)
RAR = MethodCard(
    name="rar",
    target="orienteer.lab.baselines.listwise:Rar",
    config="orienteer.lab.baselines.listwise:RarConfig",
    model="required",
    summary="searches, has answers written in the likeness of what was found, searches again",
    paper="Shen et al. 2024 (LameR)",
)

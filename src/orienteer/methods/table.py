"""The methods by name: what each is, what it needs, and its options."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args, get_type_hints

from orienteer.errors import BadOption, nearest
from orienteer.protocols import Strategy
from orienteer.settings import FILE, Settings

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Method:
    """A way to answer a question, by its one lower-case name."""

    name: str
    target: str
    """Where its class is: `package.module:Class`. It takes `graph`, and what it needs of `model` and `config`."""
    needs_model: bool
    summary: str
    paper: str | None = None
    over: Method | None = None
    """The method that it starts from, where it is written over another: `sage:spark`."""

    @property
    def slot(self) -> str | None:
        """Return how it takes another method: its hits as `seeds`, as the `base` of its searches, or not at all."""
        parameters = inspect.signature(self.load()).parameters
        return next((name for name in ("seeds", "base") if name in parameters), None)

    def load(self) -> Callable[..., Strategy]:
        """Return the class. Raises `BadOption` where it cannot be imported."""
        module, _, name = self.target.partition(":")
        try:
            found: Callable[..., Strategy] = getattr(importlib.import_module(module), name)
        except (ModuleNotFoundError, AttributeError) as error:
            raise BadOption(
                f"no method {self.target!r}: {error}. Write package.module:Class, of a module on PYTHONPATH"
            ) from error
        return found

    def config(self) -> type | None:
        """Return the configuration dataclass, None where the method has no options."""
        made = self.load()
        hints = get_type_hints(made.__init__ if inspect.isclass(made) else made)
        hint = hints.get("config")
        kinds = [kind for kind in (get_args(hint) or (hint,)) if inspect.isclass(kind) and kind is not type(None)]
        return kinds[0] if kinds else None


_TABLE = (
    Method(
        "anchor",
        "orienteer.methods.anchor:Anchor",
        needs_model=False,
        summary="links the question's phrases to nodes and ranks what connects them",
    ),
    Method(
        "bm25",
        "orienteer.methods.flat.bm25:Bm25",
        needs_model=False,
        summary="ranks nodes by the question's words alone",
    ),
    Method(
        "dense",
        "orienteer.methods.flat.dense:Dense",
        needs_model=False,
        summary="ranks nodes by nearness in meaning; needs vectors (orienteer embed)",
        paper="STaRK's VSS; SAGE (004), section 3",
    ),
    Method(
        "hybrid",
        "orienteer.methods.flat.hybrid:Hybrid",
        needs_model=False,
        summary="ranks nodes by words and nearness together; needs vectors (orienteer embed)",
        paper="SAGE (004), section 3",
    ),
    Method(
        "sage",
        "orienteer.methods.sage:Sage",
        needs_model=False,
        summary="expands what another method finds, hybrid search by default, by one hop, and prunes",
        paper="SAGE (004)",
    ),
    Method(
        "hippo",
        "orienteer.methods.bases:Hippo",
        needs_model=False,
        summary="passages by a random walk over the names, entities or facts that join them",
        paper="HippoRAG 2 (Gutiérrez et al. 2025); GraphSearch (002), section 4.1",
    ),
    Method(
        "hyper",
        "orienteer.methods.bases:Hyper",
        needs_model=False,
        summary="facts and the entities they tie together, expanded both ways, and the passages of both",
        paper="HyperGraphRAG (Luo et al. 2025); GraphSearch (002), section 4.1",
    ),
    Method(
        "light",
        "orienteer.methods.bases:Light",
        needs_model=False,
        summary="entities by names, relations by themes, and the passages that both vote for",
        paper="LightRAG (Guo et al. 2024); GraphSearch (002), section 4.1",
    ),
    Method(
        "mini",
        "orienteer.methods.bases:Mini",
        needs_model=False,
        summary="paths of two edges from what a question names vote for what may answer it",
        paper="MiniRAG (Fan et al. 2025); GraphSearch (002), section 4.1",
    ),
    Method(
        "msgraph-local",
        "orienteer.methods.bases:MsGraph",
        needs_model=False,
        summary="entities, their relations and passages, and reports of their communities",
        paper="GraphRAG (Edge et al. 2024), local search",
    ),
    Method(
        "naive",
        "orienteer.methods.bases:Naive",
        needs_model=False,
        summary="ranks passages by words and nearness; the floor of the retrievers of knowledge bases",
        paper="GraphSearch (002), section 4.1",
    ),
    Method(
        "path",
        "orienteer.methods.bases:Path",
        needs_model=False,
        summary="paths among what a question names, pruned by flow, and the passages that state them",
        paper="PathRAG (Chen et al. 2025); GraphSearch (002), section 4.1",
    ),
    Method(
        "text-rag",
        "orienteer.methods.baselines.text_rag:TextRag",
        needs_model=False,
        summary="nodes and their edges as texts, ranked by meaning; a model answers from the best",
        paper="TextRAG (Gao et al. 2023); GraphScout (003), A.4",
    ),
    Method(
        "graph-rag",
        "orienteer.methods.baselines.graph_rag:GraphRag",
        needs_model=False,
        summary="two edges around what a question names, as text; a model answers from it",
        paper="GraphRAG; GraphScout (003), A.4",
    ),
    Method(
        "ark",
        "orienteer.methods.ark:Ark",
        needs_model=True,
        summary="agents search the graph widely and along its edges, and vote",
        paper="000 (DGR) and 001 (ARK)",
    ),
    Method(
        "graphsearch",
        "orienteer.methods.graphsearch:GraphSearch",
        needs_model=True,
        summary="answers sub-queries in words and triples over any retriever, verifies, asks for what is missing",
        paper="GraphSearch (002)",
    ),
    Method(
        "spark",
        "orienteer.methods.spark:Spark",
        needs_model=True,
        summary="one call plans searches and steps along edges; a program checks the plan and runs it",
        paper="SAGE (004), section 2.2.A",
    ),
    Method(
        "react",
        "orienteer.methods.baselines.react:React",
        needs_model=True,
        summary="one agent that thinks and searches in turn",
        paper="Yao et al. 2023 (ReAct); SAGE (004), C.5",
    ),
    Method(
        "ircot",
        "orienteer.methods.baselines.ircot:IrCot",
        needs_model=True,
        summary="a chain of thought, each sentence of which is searched with before the next",
        paper="Trivedi et al. 2023 (IRCoT); GraphSearch (002), table 4",
    ),
    Method(
        "search-o1",
        "orienteer.methods.baselines.search_o1:SearchO1",
        needs_model=True,
        summary="reasoning that asks for searches; what they find is condensed before it goes in",
        paper="Li et al. 2025 (Search-o1); GraphSearch (002), table 4",
    ),
    Method(
        "vanilla",
        "orienteer.methods.baselines.vanilla:Vanilla",
        needs_model=True,
        summary="the bare model: an answer without any search, and no ranking",
        paper="GraphSearch (002), tables 1 and 4",
    ),
    Method(
        "reflexion",
        "orienteer.methods.baselines.reflexion:Reflexion",
        needs_model=True,
        summary="episodes of react, judged by the model itself, with lessons carried over",
        paper="Shinn et al. 2023; SAGE (004), C.6",
    ),
    Method(
        "think-on-graph",
        "orienteer.methods.baselines.think_on_graph:ThinkOnGraph",
        needs_model=True,
        summary="a beam search over paths, scored by the model",
        paper="Sun et al. 2024",
    ),
    Method(
        "cypher",
        "orienteer.methods.baselines.cypher_answer:CypherAnswer",
        needs_model=True,
        summary="retrieves nodes, has one Cypher query written, runs it, answers from its rows",
        paper="GraphScout (003), A.4",
    ),
    Method(
        "graph-cot",
        "orienteer.methods.baselines.graph_cot:GraphCot",
        needs_model=True,
        summary="thought, action and observation with four graph functions",
        paper="Jin et al. 2024",
    ),
    Method(
        "graph-counselor",
        "orienteer.methods.baselines.graph_counselor:GraphCounselor",
        needs_model=True,
        summary="plans, takes graph functions as far as the plan goes, and judges its own course",
        paper="Gao et al. 2025 (Graph Counselor); GraphScout (003), A.4",
    ),
    Method(
        "polyg",
        "orienteer.methods.baselines.polyg:PolyG",
        needs_model=True,
        summary="what a question leaves open decides how the graph is asked: surroundings, paths or Cypher",
        paper="Liu et al. 2025 (PolyG); GraphScout (003), A.4",
    ),
    Method(
        "graphscout",
        "orienteer.methods.graphscout:GraphScout",
        needs_model=True,
        summary="writes Python with read-only Cypher, grounds names with a retriever, answers in a line",
        paper="GraphScout (003), sections 3.2 and 3.4",
    ),
    Method(
        "4stepfocus",
        "orienteer.methods.baselines.four_step_focus:FourStepFocus",
        needs_model=True,
        summary="triplets from the question, intersected over the graph, reranked",
        paper="Boer et al. 2024; SAGE (004), C.1",
    ),
    Method(
        "focusedr",
        "orienteer.methods.baselines.focusedr:FocusedR",
        needs_model=True,
        summary="a small Cypher query, read and grounded with widening, reranked",
        paper="Boer et al. 2025; SAGE (004), C.2",
    ),
    Method(
        "kar",
        "orienteer.methods.baselines.kar:Kar",
        needs_model=True,
        summary="expands the question by triples around what it names, then searches",
        paper="Xia et al. 2024 (KAR); SAGE (004), C.4",
    ),
    Method(
        "hyde",
        "orienteer.methods.baselines.hyde:Hyde",
        needs_model=True,
        summary="searches with a passage that a model makes up, beside the question",
        paper="Gao et al. 2023 (HyDE)",
    ),
    Method(
        "agr",
        "orienteer.methods.baselines.agr:Agr",
        needs_model=True,
        summary="analyses the question, writes an expansion, refines it, searches with it",
        paper="Chen et al. 2024 (AGR)",
    ),
    Method(
        "rar",
        "orienteer.methods.baselines.rar:Rar",
        needs_model=True,
        summary="searches, has answers written in the likeness of what was found, searches again",
        paper="Shen et al. 2024 (LameR)",
    ),
)
METHODS: Mapping[str, Method] = {method.name: method for method in _TABLE}


def method_of(name: str) -> Method:
    """Return a method by its name, over another as in `sage:ark`, or somebody's own by its import path.

    An import path is `package.module:Class`. Raises `BadOption`.
    """
    if name in METHODS:
        return METHODS[name]
    outer, colon, inner = name.partition(":")
    if colon and outer in METHODS:
        return over(METHODS[outer], method_of(inner))
    if colon:
        own = Method(name, name, needs_model=False, summary="")
        made = own.load()
        summary = (inspect.getdoc(made) or "").partition("\n")[0]
        return Method(name, name, needs_model="model" in inspect.signature(made).parameters, summary=summary)
    near = nearest(name, METHODS)
    hint = f" Near: {', '.join(near)}." if near else ""
    first, _, options = name.partition(" ")
    if first in METHODS:
        hint = f" Options are given by --set: --method {first} --set {options}."
    raise BadOption(f"There is no method {name!r}.{hint} There are: {AUTO}, {', '.join(METHODS)}.")


def over(method: Method, inner: Method) -> Method:
    """Return a method that starts from what another finds. Raises `BadOption` where it cannot.

    One that takes seeds has its own where it is the base of another, as in `graphsearch:sage`.
    """
    if method.slot is None:
        able = ", ".join(name for name, one in METHODS.items() if one.slot is not None)
        raise BadOption(f"{method.name!r} starts from no other method, {inner.name!r} neither. Some do: {able}.")
    has_own = inner.over is None and (method.slot, inner.slot) == ("base", "seeds")
    if inner.slot is not None and not has_own:
        raise BadOption(f"{method.name!r} cannot start from {inner.name!r}, which starts from another method itself")
    needs_model = method.needs_model or inner.needs_model
    return replace(method, name=f"{method.name}:{inner.name}", needs_model=needs_model, over=inner)


def chosen(name: str, *, has_model: bool, is_of_documents: bool) -> Method:
    """Return the method of a name; `auto` takes the best that can run on such a graph. Raises `BadOption`.

    Without a model that is `sage` on chunks of documents, `anchor` on any other graph: docs/results.md and
    docs/sage.md have the figures.
    """
    if name == AUTO:
        return METHODS["ark" if has_model else "sage" if is_of_documents else "anchor"]
    method = method_of(name)
    if method.needs_model and not has_model:
        raise BadOption(
            f"the method {name!r} needs a model: name one (--model, model=, ORIENTEER_MODEL or orienteer.toml), or "
            "take the method anchor"
        )
    return method


def options_by_method(settings: Settings) -> Mapping[str, Mapping[str, Any]]:
    """Return the settings' options. Raises `BadOption` for those of a method that there is not."""
    for name, options in settings.methods.items():
        if ":" not in name:  # somebody's own is looked up when it is asked for
            method_of(name)
        if settings.origins.get("methods") == FILE:
            _refuse_import(name, "--method")
            for option, value in options.items():
                if isinstance(value, str):
                    _refuse_import(value, f"--set {option}=...")
    return settings.methods


def method_of_settings(settings: Settings) -> str:
    """Return the name of the method that is set. Raises `BadOption` for one that a file may not name."""
    if settings.origins.get("method") == FILE:
        _refuse_import(settings.method, "--method")
    return settings.method


def _refuse_import(text: str, flag: str) -> None:
    """Raise `BadOption` for an import path in a file of the working directory: the code there may be anyone's."""
    if ":" in text and not all(part in METHODS for part in text.split(":")):
        raise BadOption(
            f"{FILE} of the working directory names {text!r}, which is no method of the table: name it with {flag}"
        )

"""`4stepfocus`: triplets from the question, intersected over the graph, then ordered by text and by a model.

Paper: Boer et al. 2024, 4StepFocus; after SAGE (004), appendix C.1 and table 4: two calls of the model.

1. a call writes triplets and the variable that answers the question;
2. SUBSTITUTE prunes the candidates of every variable by its typed neighbours until nothing changes (`triplet_pattern`);
3. the candidates that are left are ordered by text, and further nodes of the wanted type follow;
4. a call reranks the first 20 (`listwise`).

Deviations:
1. BM25 stands in for the vectors of step 3 and for finding constants, unless `mode` says otherwise; a node of just the
   constant's name comes before others.
2. A constant may be any of the best 5 nodes; the paper gives no number. There is no widening, as in the paper.
3. Triplets are checked against the schema first: near forms of a type are taken, a reversed edge is turned, and parts
   that the graph cannot match are left out, each with a note. The paper's algorithm would end with nothing.
4. A constant that no node matches is left out. Vectors always find a node, here too where `mode` uses them.
5. The prompts are our own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import Field

from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.graph.store import Graph
from orienteer.lab.baselines.listwise import reranked
from orienteer.lab.baselines.triplet_pattern import MOST_SYMBOLS, Symbol, Triplet, TripletPattern, fitting, resolved
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Result
from orienteer.retrieval.graph_text import schema_lines
from orienteer.tools.parameters import LARGEST_K

_TEXT = {"type": "string"}
_OBJECT = {"type": "object", "additionalProperties": False}
TRIPLETS: dict[str, Any] = {
    **_OBJECT,
    "properties": {
        "target": _TEXT,
        "variables": {
            "type": "array",
            "maxItems": MOST_SYMBOLS,
            "items": {**_OBJECT, "properties": {"name": _TEXT, "type": _TEXT}, "required": ["name", "type"]},
        },
        "constants": {
            "type": "array",
            "maxItems": MOST_SYMBOLS,
            "items": {
                **_OBJECT,
                "properties": {"name": _TEXT, "text": _TEXT, "type": _TEXT},
                "required": ["name", "text", "type"],
            },
        },
        "triplets": {
            "type": "array",
            "maxItems": MOST_SYMBOLS,
            "items": {
                **_OBJECT,
                "properties": {"head": _TEXT, "edge": _TEXT, "tail": _TEXT},
                "required": ["head", "edge", "tail"],
            },
        },
    },
    "required": ["target", "variables", "constants", "triplets"],
}
"""What the first call gives. An empty type or edge stands for any."""


class FourStepFocusConfig(WorkflowConfig):
    """4StepFocus's settings."""

    candidates: int = Field(default=5, ge=1, le=LARGEST_K)
    """Nodes that a constant may be, at the most; ours."""
    rerank_first: bool = True
    """Let the model order the first 20. Step 4 of the paper."""


class FourStepFocus:
    """Triplets, intersection, order, rerank."""

    name = "4stepfocus"

    def __init__(self, graph: Graph, model: LanguageModel, config: FourStepFocusConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or FourStepFocusConfig()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Ground what the question asks for, fill up with plain search, rerank."""
        config = self.config
        workflow = Workflow(self._graph, self._model, run, question=question, method=self.name, config=config)

        def ranking() -> dict[int, str]:
            return fitting(workflow, self._pattern(workflow), widths=(config.candidates,), first=question.k)

        return reranked(workflow, ranking, rerank_first=config.rerank_first)

    def _pattern(self, workflow: Workflow) -> TripletPattern | None:
        """Return what the model takes the question to ask for; None where its reply cannot be read."""
        schema = "\n".join(schema_lines(self._graph))
        reply = workflow.ask_for("4stepfocus", TRIPLETS, schema=schema, question=workflow.question.text)
        if reply is None:
            workflow.notes.append("the model's triplets cannot be read: found by plain search")
            return None
        symbols = dict(_symbols(reply))
        target = reply["target"].strip()
        if target not in symbols:
            workflow.notes.append(f"the target {target!r} is no variable of the triplets: found by plain search")
            return None
        triplets = tuple(
            Triplet(item["head"].strip(), tuple(filter(None, [item["edge"].strip()])), item["tail"].strip())
            for item in reply["triplets"]
        )
        return resolved(TripletPattern(target, symbols, triplets), self._graph, workflow.notes)


def _symbols(reply: dict[str, Any]) -> Iterator[tuple[str, Symbol]]:
    """Yield the ends of triplets by name, constants last, so that of a name given twice the constant counts."""
    for item in (*reply["variables"], *reply["constants"]):
        yield item["name"].strip(), Symbol(tuple(filter(None, [item["type"].strip()])), item.get("text", "").strip())

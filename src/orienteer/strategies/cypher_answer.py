"""`cypher`: nodes are retrieved, the model writes one Cypher query, it is run, the model answers from its rows.

Paper: Cypher as a baseline of GraphScout (003, table 1, appendix A.4, after PolyG); the node retrieval was added by
003. Neither gives a prompt.

1. nodes are retrieved for the question: those that it names, then what one search finds (`core_entities`);
2. a call writes one query from the schema and these nodes;
3. it is executed read-only, behind our guard, for ten seconds at the most;
4. a call answers from the rows.

With `repair` a query that was refused goes back to the model with the reason, up to so many times; the paper's is 0.

The ranking holds the nodes of the rows, in their order, then the retrieved ones; with an answer, those that it names
come first. Where a query is refused for good there is nothing to answer from: no call is made, and the answer is *not
in the evidence*. `search` ends after 3.

Deviations:
1. The guard refuses what changes a graph, runs without end or is not understood, and says what to write instead.
2. Nodes are retrieved by BM25 unless `mode` says otherwise, and by exact name before that.
3. The model is shown as many rows as 6,000 tokens hold, 100 at the most, and how many there are.
4. The prompts are our own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from orienteer.graph.cypher.copying import engine
from orienteer.graph.store import Graph
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Observation, Question, Ranked, Result, Sampling
from orienteer.strategies.answer import NOT_THERE, Read, ask, citations, parted, without
from orienteer.strategies.core_entities import CoreEntities, grounding
from orienteer.strategies.linearized import named_in
from orienteer.strategies.workflow import Workflow, WorkflowConfig
from orienteer.tools.arguments import LARGEST_K
from orienteer.tools.reading import schema_lines
from orienteer.tools.render import title

NO_QUERY = "the model wrote no query"
_BLOCK = re.compile(r"```[^\S\n]*(?:\w+[^\S\n]*\n|\n)?(.*?)(?:```|\Z)", re.DOTALL)
_BEGINS = re.compile(r"^[ \t]*(?:OPTIONAL[ \t]+MATCH|MATCH|UNWIND|WITH|RETURN)\b", re.IGNORECASE | re.MULTILINE)
_SHOWN = 2_000  # characters of a refused query that the model is shown again


@dataclass(frozen=True, slots=True, kw_only=True)
class CypherConfig(WorkflowConfig):
    """Cypher's settings."""

    candidates: int = 10
    """Nodes that the model is shown, at the most; the number is ours."""
    repair: bool = False
    """Whether a query that was refused goes back to the model, once; the paper's does not."""

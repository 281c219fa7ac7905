"""Orienteer finds its way through knowledge graphs.

    from orienteer import Graph, Retriever

    result = Retriever(Graph.open("hetionet")).ask("which genes are associated with asthma?")

The names here are public, and so is the module `orienteer.errors`, which holds every error that is raised on purpose.
Everything else may move. Nothing is loaded before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orienteer.faces import face
from orienteer.version import __version__

if TYPE_CHECKING:
    from orienteer.agents.events import Event
    from orienteer.cypher.names import View
    from orienteer.cypher.session import Cypher
    from orienteer.elements import Edge, Hit, Neighborhood, Node, Path, Schema
    from orienteer.errors import Error
    from orienteer.graph.embedding import give_vectors
    from orienteer.ingest.documents.config import BuildConfig
    from orienteer.ingest.documents.run import BuildOptions, build_graph
    from orienteer.ingest.formats.table import Batch, Format
    from orienteer.ingest.graph import Graph
    from orienteer.lab.baselines.listwise import ListwiseReranker
    from orienteer.lab.evaluation.datasets import read_questions
    from orienteer.lab.evaluation.datasets.rows import Dataset
    from orienteer.lab.evaluation.examples import Example, Gold, QuestionSet, QuizItem
    from orienteer.lab.evaluation.running.runner import evaluate
    from orienteer.lab.evaluation.running.runs import read_run
    from orienteer.lab.evaluation.scores.rewards import reward
    from orienteer.lab.evaluation.scores.table import score_runs
    from orienteer.lab.quizzes.quiz import generate_quiz
    from orienteer.llm.budget import Allowance, Budget
    from orienteer.llm.conversation import prompt_of
    from orienteer.llm.openai import OpenAIConfig, OpenAIModel
    from orienteer.llm.replies import RecordedModel, Recording, ScriptedModel
    from orienteer.methods.table import MethodCard
    from orienteer.options import Options
    from orienteer.records import (
        Observation,
        Price,
        Question,
        Ranked,
        Reading,
        Refusal,
        Result,
        Step,
        ToolboxSpec,
        ToolCall,
        ToolSpec,
        Trajectory,
        Usage,
    )
    from orienteer.retrieval.bases.table import open_base
    from orienteer.retrieval.evidence import Evidence, Scored
    from orienteer.retrieval.query import Query
    from orienteer.retriever import Retriever
    from orienteer.settings import read_settings
    from orienteer.tools.session import Session
    from orienteer.tools.toolbox import open_toolbox

__all__ = [
    "Allowance",
    "Batch",
    "Budget",
    "BuildConfig",
    "BuildOptions",
    "Cypher",
    "Dataset",
    "Edge",
    "Error",
    "Event",
    "Evidence",
    "Example",
    "Format",
    "Gold",
    "Graph",
    "Hit",
    "ListwiseReranker",
    "MethodCard",
    "Neighborhood",
    "Node",
    "Observation",
    "OpenAIConfig",
    "OpenAIModel",
    "Options",
    "Path",
    "Price",
    "Query",
    "Question",
    "QuestionSet",
    "QuizItem",
    "Ranked",
    "Reading",
    "RecordedModel",
    "Recording",
    "Refusal",
    "Result",
    "Retriever",
    "Schema",
    "Scored",
    "ScriptedModel",
    "Session",
    "Step",
    "ToolCall",
    "ToolSpec",
    "ToolboxSpec",
    "Trajectory",
    "Usage",
    "View",
    "__version__",
    "build_graph",
    "evaluate",
    "generate_quiz",
    "give_vectors",
    "open_base",
    "open_toolbox",
    "prompt_of",
    "read_questions",
    "read_run",
    "read_settings",
    "reward",
    "score_runs",
]

# The public names of each module.
_HOMES = {
    "agents.events": "Event",
    "cypher.names": "View",
    "cypher.session": "Cypher",
    "elements": "Edge, Hit, Neighborhood, Node, Path, Schema",
    "errors": "Error",
    "graph.embedding": "give_vectors",
    "ingest.documents.config": "BuildConfig",
    "ingest.documents.run": "build_graph, BuildOptions",
    "ingest.formats.table": "Batch, Format",
    "ingest.graph": "Graph",
    "lab.baselines.listwise": "ListwiseReranker",
    "lab.evaluation.datasets": "read_questions",
    "lab.evaluation.datasets.rows": "Dataset",
    "lab.evaluation.examples": "Example, Gold, QuestionSet, QuizItem",
    "lab.evaluation.running.runner": "evaluate",
    "lab.evaluation.running.runs": "read_run",
    "lab.evaluation.scores.rewards": "reward",
    "lab.evaluation.scores.table": "score_runs",
    "lab.quizzes.quiz": "generate_quiz",
    "llm.budget": "Allowance, Budget",
    "llm.conversation": "prompt_of",
    "llm.openai": "OpenAIConfig, OpenAIModel",
    "llm.replies": "RecordedModel, Recording, ScriptedModel",
    "methods.table": "MethodCard",
    "options": "Options",
    "records": (
        "Observation, Price, Question, Ranked, Reading, Refusal, Result, Step, ToolboxSpec, ToolCall, ToolSpec, "
        "Trajectory, Usage"
    ),
    "retrieval.bases.table": "open_base",
    "retrieval.evidence": "Evidence, Scored",
    "retrieval.query": "Query",
    "retriever": "Retriever",
    "settings": "read_settings",
    "tools.session": "Session",
    "tools.toolbox": "open_toolbox",
}

__getattr__ = face(__name__, _HOMES)[0]


def __dir__() -> list[str]:
    return sorted(__all__)

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
    from orienteer.cypher.session import Cypher
    from orienteer.cypher.view import View
    from orienteer.errors import Error
    from orienteer.evaluation.datasets import read_questions
    from orienteer.evaluation.datasets.dataset import Dataset
    from orienteer.evaluation.examples import Example, Gold, QuestionSet
    from orienteer.evaluation.quiz_item import QuizItem
    from orienteer.evaluation.running.runner import evaluate
    from orienteer.evaluation.running.runs import read_run
    from orienteer.evaluation.scores.rewards import reward
    from orienteer.evaluation.scores.table import score_runs
    from orienteer.graph.embedding import give_vectors
    from orienteer.ingest.documents.config import BuildConfig
    from orienteer.ingest.documents.run import BuildOptions, build_graph
    from orienteer.ingest.formats.table import Batch, Format
    from orienteer.ingest.graph import Graph
    from orienteer.llm.budget import Allowance, Budget
    from orienteer.llm.openai import OpenAIConfig, OpenAIModel
    from orienteer.llm.prompts import prompt_of
    from orienteer.llm.replies import RecordedModel, Recording
    from orienteer.llm.scripted import ScriptedModel
    from orienteer.methods.baselines.listwise import ListwiseReranker
    from orienteer.methods.card import MethodCard
    from orienteer.options import Options
    from orienteer.quizzes.quiz import generate_quiz
    from orienteer.records import (
        Edge,
        Hit,
        Neighborhood,
        Node,
        Observation,
        Path,
        Price,
        Question,
        Ranked,
        Result,
        Schema,
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
    "RecordedModel",
    "Recording",
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

_HOMES = {
    "agents.events": "Event",
    "cypher.session": "Cypher",
    "cypher.view": "View",
    "errors": "Error",
    "evaluation.datasets": "read_questions",
    "evaluation.datasets.dataset": "Dataset",
    "evaluation.examples": "Example, Gold, QuestionSet",
    "evaluation.quiz_item": "QuizItem",
    "evaluation.running.runner": "evaluate",
    "evaluation.running.runs": "read_run",
    "evaluation.scores.rewards": "reward",
    "evaluation.scores.table": "score_runs",
    "graph.embedding": "give_vectors",
    "ingest.graph": "Graph",
    "ingest.documents.config": "BuildConfig",
    "ingest.documents.run": "BuildOptions, build_graph",
    "ingest.formats.table": "Batch, Format",
    "llm.budget": "Allowance, Budget",
    "llm.openai": "OpenAIConfig, OpenAIModel",
    "llm.prompts": "prompt_of",
    "llm.replies": "RecordedModel, Recording",
    "llm.scripted": "ScriptedModel",
    "methods.baselines.listwise": "ListwiseReranker",
    "methods.card": "MethodCard",
    "options": "Options",
    "quizzes.quiz": "generate_quiz",
    "records": (
        "Edge, Hit, Neighborhood, Node, Observation, Path, Price, Question, Ranked, Result, Schema, Step, "
        "ToolboxSpec, ToolCall, ToolSpec, Trajectory, Usage"
    ),
    "retrieval.bases.table": "open_base",
    "retrieval.evidence": "Evidence, Scored",
    "retrieval.query": "Query",
    "retriever": "Retriever",
    "settings": "read_settings",
    "tools.session": "Session",
    "tools.toolbox": "open_toolbox",
}
"""The public names of each module."""

__getattr__ = face(__name__, _HOMES)[0]


def __dir__() -> list[str]:
    return sorted(__all__)

"""The options of every method by name, for type checkers: `Retriever(graph, "ark", agents=2)`.

Written by `python tests/api/method_options.py` off the methods' configurations; a test compares. Which method has which
option is checked when a `Retriever` is made, and `orienteer methods` tells what each means.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict


class MethodOptions(TypedDict, total=False):
    """What methods let choose. An option that several methods have may take other values in each."""

    abstains: bool
    agents: int
    alpha: float
    analysis: Literal["names", "model"]
    answer_from: Literal["all", "text", "graph"]
    answer_tokens: int
    answers: int
    backwards: float
    calls: Literal["text", "tools"]
    candidates: int
    carried: int
    channels: Literal["both", "semantic", "relational"]
    connection_weight: float
    context_tokens: int
    count_weight: float
    cut: bool
    cypher: bool
    damping: float
    decomposition: bool
    depth: int
    directed: Sequence[str]
    documents: int
    drafting: bool
    early_stop: bool
    edge_types: Sequence[str]
    enough: int
    entities: int
    episodes: int
    evidence_tokens: int
    expansion: bool
    fact_k: int
    facts: Literal["auto", "always", "never"] | int
    faithful: bool
    fill: bool
    filter: bool
    fit: float
    folds: bool
    fusion: Literal["linear", "rrf"] | Literal["vote", "order", "random"]
    graph_damping: float
    graph_rounds: int
    grounded: int
    grounding: bool
    history_tokens: int
    joint_weight: float
    level: Literal["local", "global", "hybrid", "mix"]
    levels: int
    listed: int
    max_calls: int
    max_searches: int
    max_steps: int
    max_turns: int
    meaning_weight: float
    mode: str
    more_tools: Sequence[str]
    most_hops: int
    most_nodes_a_phrase: int
    names: float
    neighbors: int
    new_queries: int
    nodes: int
    open_words: Literal["embedded", "words", "off"]
    order: Literal["splits", "seeds", "joint"]
    others: float
    paragraphs: int
    passage_weight: float
    passages: int | None
    paths: int
    phrases: bool | int
    policy: Literal["-edge", "+edge", "none"]
    pooling: Literal["max", "mean", "top"]
    prior_weight: float
    prompt_tokens: int
    pruning: Literal["weighed", "hybrid"]
    questions: int
    quotes: bool
    refinement: bool
    reflections: int
    relational_source: Literal["all", "text", "graph"]
    relations: int
    repair: bool | int
    reports: Literal["list", "model"]
    rerank_first: bool
    retry_cpython: bool
    rounds: int
    rows: float
    samples: bool
    scorer: Literal["model", "bm25"]
    seconds: float
    seeds: int | str
    semantic_source: Literal["all", "text", "graph"]
    sharpness: float
    similar: float
    spelling: bool
    sub_queries: int
    tau: float
    telling: bool
    temperature: float
    theta: float
    tier: Literal["auto", "monty", "cpython"]
    titles: float | None
    tokens: int
    tools: Literal["all", "compact", "paper", "global-only", "no-query", "no-filters"] | Literal["all", "no-code"]
    top: int
    topics: int
    trust: float | None
    type_weight: float
    unweighted: float
    verification: bool
    view: str
    weight: float
    width: int

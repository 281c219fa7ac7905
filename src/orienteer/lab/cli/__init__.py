"""The commands of the lab: evaluate, generate quizzes, train."""

from __future__ import annotations

from orienteer.faces import face

__getattr__, __dir__, __all__ = face(
    __name__,
    {
        "quiz": "questions as questions_command",
    },
)

COMMANDS = {
    "orienteer.lab.cli.evaluation": {
        "eval": "Compare methods on questions whose answers are known.",
        "eval run": "Ask every method every question and store the results; an interrupted run is continued.",
        "eval sweep": "Ask a method every question with each combination of option values, as one run.",
        "eval fuse": "Fuse what the agents of a run selected in other ways, as a run of its own; no model is called.",
        "eval score": (
            "Store the answers of another system as a run, to be shown and compared like any other; no graph is needed."
        ),
        "eval show": (
            "Print a row for each method: every measure with its interval, n, milliseconds, work "
            "done, failed tool calls."
        ),
        "eval compare": "Say whether the graph helped on these questions and by how much, then show the evidence.",
        "eval report": "Write a report on runs as one HTML page: figures, plots, every question with its trajectory.",
        "eval judge": "Let a model judge the answers of a run; no answer is judged twice.",
    },
    "orienteer.lab.cli.reproduce": {
        "reproduce": (
            "Make a table or a figure of the papers again: data, methods, measures, the published figures beside ours."
        ),
    },
    "orienteer.lab.cli.quiz": {
        "questions": "Generate questions with complete gold answers from a graph; no model is used unless named here.",
        "quiz": "Generate questions balanced by answer type, pattern and difficulty, each proved by a query.",
        "eval quiz": (
            "Describe a quiz: the kinds of its questions, as assigned or as judged by a model; lengths; clues."
        ),
    },
    "orienteer.lab.cli.train": {
        "train": "Collect trajectories, and train small models on them.",
        "train collect": "Collect a teacher's trajectories over the questions of graphs, for train sft and train grpo.",
        "train sft": "Distil: a student learns the trajectories of collections, the loss on its own tokens alone.",
        "train sweep": (
            "Distil once for each combination of values, as the paper varies questions, samples and "
            "graphs (ARK, table 5)."
        ),
        "train grpo": "Train by reward: groups of episodes on real tools, each measured against its group.",
        "train export": (
            "Write a student as a GGUF file with its card, for --model local:FILE and servers of llama.cpp."
        ),
    },
    "orienteer.lab.cli.trace": {
        "trace": "Read, replay and compare what agents did.",
        "trace show": "Print trajectories: every call, its observation, and the selected nodes.",
        "trace requests": (
            "Print every request to a model exactly as it was sent: messages, tools, sampling; "
            "--json has the whole bodies."
        ),
        "trace replay": "Run every recorded call again over a graph, without the model, and compare the observations.",
        "trace diff": "Compare two traces, trajectory by trajectory: where they differ, and what each selected.",
        "trace lint": (
            "Print the causes of lost turns: failed calls, repeated calls, unused results, cut replies, empty answers."
        ),
    },
}

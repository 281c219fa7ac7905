"""What ARK's loop costs beside its model: a scripted one that answers at once, and one that takes its time.

    python benchmarks/agent.py [--json FILE] [--work FOLDER]

The script searches, looks around nodes and adds to its answer for 20 steps, over the smallest synthetic graph.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from orienteer.agents.agent import Agent, ByFinish
from orienteer.graph.store import Graph
from orienteer.llm import Allowance, ScriptedModel
from orienteer.methods.ark import Ark, ArkConfig
from orienteer.records import JsonValue, Message, Observation, Question, Sampling, ToolSpec, Trajectory
from orienteer.tools.toolbox import Toolbox
from probe import build_graph
from report import Report, Target, command_line
from synthetic import Synthetic, load

Call = tuple[str, Mapping[str, JsonValue]]
QUESTION = Question(text="what touches these?")
STEPS = 20
ROUNDS = 15
SLOW_SECONDS = 0.05
"""What a call of the slow model takes: long beside the loop, short beside a real model."""
TARGETS = {
    "step, beside model and tools": Target(2),
    "step, three agents": Target(1.2, "one agent"),
    "question, slow model, three agents": Target(1.2, "one agent"),
}


def main() -> None:
    """Run all measurements."""
    parser = command_line(__doc__, ("--json", "--work"))
    options = parser.parse_args()
    work: Path = options.work
    data, path = load("XS", work), work / "graph-agent"
    build_graph(data, path)
    graph, script, report = Graph.open(path), _script(data), Report(TARGETS)
    whole, inside = _explore(graph, script)
    report.add("step", whole * 1e3, "ms")
    report.add("step, its tools", inside * 1e3, "ms")
    report.add("step, beside model and tools", (whole - inside) * 1e3, "ms")
    one, three = _least([lambda: _ask(graph, script, 1), lambda: _ask(graph, script, 3)], ROUNDS)
    steps = 3 * STEPS
    report.add("step, three agents", three / steps * 1e3, "ms", peer="one agent", peer_value=one / STEPS * 1e3)
    slow_one, slow_three = _least(
        [lambda: _ask(graph, script, 1, SLOW_SECONDS), lambda: _ask(graph, script, 3, SLOW_SECONDS)], 3
    )
    report.add("question, slow model, three agents", slow_three, "s", peer="one agent", peer_value=slow_one)
    report.write(options.json)


def _script(data: Synthetic) -> list[Call]:
    """Return one call a step: searches and neighbourhoods in turn, the answer now and then, and the end."""
    asked, ids = data.queries["around degree 10"], data.ids
    calls: list[Call] = []
    for number, one in enumerate(asked[: STEPS - 1]):
        query, node = " ".join(data.words[word] for word in one.words), ids[one.node or 0]
        turns: list[Call] = [
            ("search_in_graph", {"query": query}),
            ("search_in_neighborhood", {"node": node, "query": query}),
            ("add_to_answer", {"nodes": [node], "reasoning": "it touches what was asked for"}),
        ]
        calls.append(turns[number % len(turns)])
    return [*calls, ("finish", {})]


def _ask(graph: Graph, script: Sequence[Call], agents: int, seconds: float = 0) -> None:
    def policy(messages: Sequence[Message], tools: Sequence[ToolSpec], sampling: Sampling) -> list[Call]:
        if seconds:
            time.sleep(seconds)
        return [script[sum(message.role == "assistant" for message in messages)]]

    ark = Ark(graph, ScriptedModel(policy), ArkConfig(agents=agents, max_steps=STEPS))
    result = ark.retrieve(QUESTION, Allowance())
    steps = [step for trajectory in result.trajectories for step in trajectory.steps]
    errors = [found.text for step in steps for found in step.observations if found.error]
    if len(steps) != STEPS * agents or errors:
        raise SystemExit(f"the script was not followed: {len(steps)} steps, {errors}")


class TimedToolbox(Toolbox):
    """Tools that know how long they took."""

    seconds = 0.0

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> Observation:
        """Run a tool."""
        started = time.perf_counter()
        found = super().call(name, arguments)
        self.seconds += time.perf_counter() - started
        return found


def _explore(graph: Graph, script: Sequence[Call]) -> tuple[float, float]:
    """Return the seconds of a step, and of them those in its tools: of the run that spent least beside them."""
    model = ScriptedModel(lambda messages, tools, sampling: [script[len(messages) // 2]])
    spent = []
    for _ in range(ROUNDS):
        toolbox = TimedToolbox.full(graph)
        assert isinstance(toolbox, TimedToolbox)
        started = time.perf_counter()
        question = Question(text="what touches these?")
        begun = Trajectory(question=question, method="ark", model="scripted", tools=toolbox.specs)
        Agent(model, toolbox, ByFinish(toolbox.session, max_steps=STEPS)).explore(begun, Allowance())
        spent.append((time.perf_counter() - started, toolbox.seconds))
    whole, inside = min(spent, key=lambda one: one[0] - one[1])
    return whole / STEPS, inside / STEPS


def _least(runs: Sequence[Callable[[], None]], rounds: int) -> list[float]:
    """Return the least seconds of each of some runs, which take turns: what else goes on only ever adds."""
    for run in runs:
        run()
    seconds = np.zeros((rounds, len(runs)))
    for turn in range(rounds):
        for at, run in enumerate(runs):
            started = time.perf_counter()
            run()
            seconds[turn, at] = time.perf_counter() - started
    return [float(one) for one in seconds.min(axis=0)]


if __name__ == "__main__":
    main()

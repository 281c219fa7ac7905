"""What ARK's loop costs beside its model: a scripted one that answers at once, and one that takes its time.

    python benchmarks/agent.py [--json FILE] [--work FOLDER]

The script searches, looks around nodes and adds to its answer for 20 steps, over the smallest synthetic graph.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from orienteer.agents.agent import Agent, ByFinish
from orienteer.graph.store import Graph
from orienteer.llm import Allowance, ScriptedModel
from orienteer.methods.ark import Ark, ArkConfig
from orienteer.records import JsonValue, Message, Observation, Question, Sampling, ToolSpec, Trajectory
from orienteer.tools.toolbox import Toolbox
from probe import build_graph
from report import Report, Target, command_line, timed
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
    one, three = _least(graph, script, 0, ROUNDS)
    report.add("step, three agents", three / (3 * STEPS), "ms", peer="one agent", peer_value=one / STEPS)
    one, three = _least(graph, script, SLOW_SECONDS, 3)
    name = "question, slow model, three agents"
    report.add(name, three / 1e3, "s", peer="one agent", peer_value=one / 1e3)
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


def _least(graph: Graph, script: Sequence[Call], seconds: float, rounds: int) -> tuple[float, float]:
    """Return the milliseconds of a question to one agent, and to three, by a model that takes some seconds a call."""
    ask = partial(_ask, graph, script, seconds)
    one, three = timed({"one": (ask, [1]), "three": (ask, [3])}, rounds).values()
    return one.p50, three.p50


def _ask(graph: Graph, script: Sequence[Call], seconds: float, agents: int) -> None:
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


if __name__ == "__main__":
    main()

"""The lists that the agents of a run selected, fused anew: in other ways, or of fewer agents, without the model.

Fusions of the same agents are paid once (ARK, table 3): `eval run` asks them, `eval fuse` fuses them by `vote`, `order`
and `random`. The lines are those of agents that were asked anew and got the same replies.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from orienteer.errors import BadInput
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.running.asker import Outcome, Task, outcome_of
from orienteer.lab.evaluation.running.runner import begin, claim
from orienteer.lab.evaluation.running.runs import Journal, Line, StoredRun, graph_hash, lock, provenance
from orienteer.lab.evaluation.running.sweep import K, Variant, combinations, options_in
from orienteer.lab.replay import session_of
from orienteer.llm.budget import Allowance
from orienteer.llm.replies import ScriptedModel
from orienteer.methods.ark import Ark, ArkConfig
from orienteer.methods.table import METHODS

# The method of the run whose agents are fused, the method that comes of it, and that method opened.
_Fusion: TypeAlias = tuple[str, Variant, Ark]


def fuse(
    run: StoredRun,
    graph: Graph,
    path: Path,
    values: Mapping[str, Sequence[str]],
    listener: Callable[[Line], None] = lambda _: None,
) -> list[str]:
    """Write the run at `path` with the lists of `run`'s agents fused anew, once for each combination of option values.

    The options are `fusion`, and `agents` for the first so many of each question. Returns what is left out and why. An
    interrupted fusion is continued. Raises `BadOption` for a value that `ark` does not take, and `BadInput` for a run
    without agents, for another graph, and if anything but a fusion of this run is at `path`.
    """
    if graph_hash(graph) != run.manifest.graph_sha256:
        raise BadInput(f"{graph.path} is not the graph that {run.path} was run on: name that one with --graph")
    fusions, left_out = _fusions(run, graph, values)
    sources = dict.fromkeys(source for source, _, _ in fusions)
    if not fusions:
        wanted = " and ".join(f"{name}={','.join(texts)}" for name, texts in values.items())
        raise BadInput(
            f"{run.path} has no agents to fuse by {wanted}: its methods are {', '.join(run.manifest.methods)}"
        )
    note = f"fused from the agents of {', '.join(map(repr, sources))} in {run.path.name}, without the model"
    update = {
        "methods": json.loads(json.dumps({variant.label: variant.all_options() for _, variant, _ in fusions})),
        "answers": False,
        "fused_from": f"{run.path.name} of {run.manifest.created}",
        "notes": (*run.manifest.notes, note),
        **provenance(),
    }
    claim(path)
    with lock(path):
        begin(path, run.manifest.model_copy(update=update), run.examples)
        journal = Journal(path)
        for outcome in _outcomes(run, graph, fusions, journal):
            journal.add(outcome.line, outcome.trajectories)
            listener(outcome.line)
    return left_out


def _fusions(run: StoredRun, graph: Graph, values: Mapping[str, Sequence[str]]) -> tuple[list[_Fusion], list[str]]:
    """Return the fusions of each method, and what is left out: if several would have one label, all but the first."""
    found: dict[str, _Fusion] = {}
    left_out = [f"{source} (it has no agents)" for source in run.manifest.methods if source.split()[0] != Ark.name]
    for source, options in run.manifest.methods.items():
        name, own = source.split(maxsplit=1)[0], options_in(source)
        for chosen in combinations(values) if name == Ark.name else ():
            config = ArkConfig.read({**{key: value for key, value in options.items() if key != K}, **chosen})
            label = " ".join([name, *(f"{key}={shlex.quote(value)}" for key, value in {**own, **chosen}.items())])
            if config.agents > options["agents"]:
                left_out.append(f"{label} ({source!r} has {options['agents']})")
            elif label in found:
                left_out.append(f"{label} of {source!r} (it is taken from {found[label][0]!r})")
            else:
                variant = Variant(label, METHODS[name], config.chosen, options.get(K))
                ark = Ark(graph, ScriptedModel(lambda *_: ""), config)  # nothing is asked of it
                found[label] = (source, variant, ark)
    return list(found.values()), left_out


def _outcomes(run: StoredRun, graph: Graph, fusions: Sequence[_Fusion], journal: Journal) -> Iterator[Outcome]:
    """Yield what the journal lacks, in the order of the run."""
    examples = {example.question.id: example for example in run.examples}
    lines = {(line.id, line.method): line for line in run.lines}
    for question, method, trajectories in run.trajectories():
        tasks = [(Task(examples[question], variant), ark) for source, variant, ark in fusions if source == method]
        tasks = [(task, ark) for task, ark in tasks if task.pair not in journal.done]
        agents = [one for one in trajectories if one.method == Ark.name] if tasks else []
        courses = [(agent, session_of(agent, graph)) for agent in agents]
        for task, ark in tasks:
            if not courses:  # it failed before any agent came to an end
                yield Outcome(lines[question, method].model_copy(update={"method": task.variant.label}), ())
                continue
            chosen = courses[: ark.config.agents]
            result = ark.fuse(agents[0].question, chosen, Allowance(random_seed=run.manifest.random_seed))
            seconds = max(sum(step.seconds for step in agent.steps) for agent, _ in chosen)
            hits = result.hits[: task.variant.k or run.manifest.k]
            usage = result.usage.model_copy(update={"seconds": seconds})
            yield outcome_of(task, result.model_copy(update={"hits": hits, "answer": None, "usage": usage}))

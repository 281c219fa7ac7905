"""Methods with options set, and grids of option values."""

import pytest

from orienteer.errors import BadOption
from orienteer.lab.evaluation import method_variants, options_in_sweep, sweep_axes, sweep_grid
from orienteer.settings import Settings


def read(*texts, **options):
    return method_variants(texts, options=options, settings=Settings())


def test_a_method_carries_options_of_its_own_under_its_text():
    (variant,) = read("ark agents=1  max_steps=5")
    assert (variant.label, variant.method.name) == ("ark agents=1 max_steps=5", "ark")
    assert variant.options == {"agents": 1, "max_steps": 5}
    assert variant.all_options()["temperature"] == 0.7
    (ten,) = read("bm25 k=10")
    assert (ten.k, ten.options, ten.all_options()) == (10, {}, {"k": 10})
    with pytest.raises(BadOption, match="k is '0'"):
        read("bm25 k=0")
    assert variant.agents == 1


def test_options_hold_for_each_method_that_knows_them_and_own_ones_beat_them():
    bm25, plain, own = read("bm25", "ark", "ark agents=5", agents="2")
    assert (bm25.options, plain.options, own.options) == ({}, {"agents": 2}, {"agents": 5})


def test_the_settings_options_are_beaten_by_all_others():
    settings = Settings(methods={"ark": {"agents": 7, "max_steps": 7}})
    first, other = method_variants(["ark", "ark agents=1"], options={"max_steps": "2"}, settings=settings)
    assert first.options == {"agents": 7, "max_steps": 2}
    assert other.options == {"agents": 1, "max_steps": 2}


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ([], {}, "no method is named"),
        (["auto"], {}, "name the method that you mean"),
        (["bm26"], {}, "Near: bm25"),
        ([" "], {}, "empty"),
        (["ark agents='1"], {}, "cannot be read"),
        (["ark agents"], {}, "NAME=VALUE"),
        (["ark agent=1"], {}, "Near: agents"),
        (["ark agents=many"], {}, "agents is 'many': it must be a whole number"),
        (["bm25", "bm25 "], {}, "named twice"),
        (["bm25"], {"agents": "2"}, "There is no option 'agents'"),
    ],
)
def test_what_cannot_be_is_refused_with_the_remedy(texts, options, message):
    with pytest.raises(BadOption, match=message):
        method_variants(texts, options=options, settings=Settings())


def test_a_grid_has_every_combination():
    values = sweep_axes(["agents=1,3", "max_steps = 5, 20,5"])
    assert values == {"agents": ("1", "3"), "max_steps": ("5", "20")}
    texts = sweep_grid(["ark faithful=true"], values)
    assert texts == [f"ark faithful=true agents={a} max_steps={t}" for a in (1, 3) for t in (5, 20)]
    assert [variant.options["max_steps"] for variant in read(*texts)] == [5, 20, 5, 20]
    assert options_in_sweep(texts[0]) == {"faithful": "true", "agents": "1", "max_steps": "5"}


@pytest.mark.parametrize("values", [{}, {"agents": ()}])
def test_a_grid_of_nothing_is_refused(values):
    with pytest.raises(BadOption, match="sweep"):
        sweep_grid(["ark"], values)

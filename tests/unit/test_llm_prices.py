import pytest

from orienteer.errors import BadOption
from orienteer.llm import price_of
from orienteer.records import Price


def test_cost_is_dollars_for_a_million_tokens():
    price = Price(prompt=2.0, cached=0.5, completion=8.0)
    assert price.usd(prompt_tokens=1_000_000, cached_tokens=0, completion_tokens=0) == pytest.approx(2.0)
    assert price.usd(prompt_tokens=1000, cached_tokens=600, completion_tokens=100) == pytest.approx(
        (400 * 2.0 + 600 * 0.5 + 100 * 8.0) / 1e6
    )


def test_without_a_price_for_cached_tokens_they_cost_as_any_other():
    assert Price(prompt=3.0, completion=0.0).usd(
        prompt_tokens=10, cached_tokens=10, completion_tokens=0
    ) == pytest.approx(30 / 1e6)


@pytest.mark.parametrize(
    ("model", "prompt"),
    [
        ("gpt-4.1", 2.0),
        ("gpt-4.1-2025-04-14", 2.0),
        ("gpt-4.1-mini", 0.4),
        ("gpt-4.1-nano-2025-04-14", 0.1),
        ("gpt-4o", 2.5),
        ("gpt-4o-2024-08-06", 2.5),
        ("gpt-4o-2024-05-13", 5.0),
        ("gpt-4o-mini", 0.15),
        ("gpt-4o-mini-2024-07-18", 0.15),
    ],
)
def test_a_model_and_its_dated_snapshots_have_a_price(model, prompt):
    price = price_of(model)
    assert price is not None
    assert price.prompt == prompt


@pytest.mark.parametrize(
    "model",
    ["", "gpt-4", "gpt-4.10", "gpt-4o-audio-preview", "gpt-4o-mini-tts", "ft:gpt-4o:me", "openai/gpt-4o", "qwen3"],
)
def test_any_other_name_has_none(model):
    assert price_of(model) is None


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_a_price_is_a_number_of_dollars(value):
    with pytest.raises(BadOption, match=r"^Price\.prompt is .*: it must be a number, 0 or more"):
        Price(prompt=value, completion=1.0)

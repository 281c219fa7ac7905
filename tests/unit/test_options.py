"""Every configuration is frozen, checked in full and described by a JSON schema; texts are read as in a shell."""

import importlib
import inspect
import json
import math
import pickle
from typing import Literal, TypeAlias

import pytest
from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from orienteer.errors import BadOption
from orienteer.ingest import BuildConfig, BuildOptions, LinkConfig
from orienteer.lab.evaluation import RunConfig
from orienteer.lab.quizzes import ExploreConfig
from orienteer.llm import Budget, OpenAIConfig
from orienteer.methods import METHODS
from orienteer.options import Options, options_of, pairs_of
from orienteer.records import Price
from orienteer.retrieval import BASES
from orienteer.tools import CodeConfig

Level: TypeAlias = Literal["hybrid", "local"]
REQUIRED = {Price: {"prompt": 1.0, "completion": 2.0}}


def _config_of(path):
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), f"{name}Config")


CONFIGURATIONS = {
    config.__name__: config
    for config in (
        *filter(None, [card.config_class() for card in METHODS.values()]),
        *map(_config_of, BASES.values()),
        *(BuildConfig, BuildOptions, LinkConfig, RunConfig, Budget, OpenAIConfig, Price, ExploreConfig, CodeConfig),
    )
}


@pytest.fixture(params=CONFIGURATIONS)
def config(request):
    return CONFIGURATIONS[request.param]


def bounds_of(config):
    """Yield each bound: the option, the last value that fits, and the first beyond it."""
    for name, schema in config.model_json_schema()["properties"].items():
        for kind in schema.get("anyOf", [schema]):
            step = 1 if kind.get("type") == "integer" else None
            for bound, away in (("minimum", -math.inf), ("maximum", math.inf)):
                if (last := kind.get(bound)) is not None:
                    yield name, last, last + math.copysign(step, away) if step else math.nextafter(last, away)
            for bound, inside in (("exclusiveMinimum", math.inf), ("exclusiveMaximum", -math.inf)):
                if (beyond := kind.get(bound)) is not None:
                    yield name, math.nextafter(beyond, inside), beyond


def test_every_method_with_options_is_a_configuration():
    assert len(METHODS) - 1 == sum(card.config_class() is not None for card in METHODS.values())  # bm25 has none
    assert all(issubclass(config, Options) for config in CONFIGURATIONS.values())


def test_every_option_has_a_schema_with_what_it_means(config):
    schema = json.loads(json.dumps(config.model_json_schema()))
    assert list(schema["properties"]) == [option.name for option in options_of(config)]
    assert schema["additionalProperties"] is False
    for name, option in schema["properties"].items():
        assert option["description"].strip().endswith("."), name
        assert {"type", "anyOf", "enum", "$ref"} & set(option), name


def test_the_defaults_of_the_schema_are_those_of_the_constructor(config):
    made = config(**REQUIRED.get(config, {}))
    for name, option in config.model_json_schema()["properties"].items():
        if "default" in option:
            assert option["default"] == made.model_dump(mode="json")[name], name
        else:
            assert name in REQUIRED[config]


def test_a_type_checker_knows_the_options(config):
    parameters = inspect.signature(config).parameters
    assert list(parameters) == list(config.model_fields)
    assert {one.kind for one in parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}


def test_every_bound_is_kept(config):
    for name, last, beyond in bounds_of(config):
        required = REQUIRED.get(config, {})
        assert getattr(config(**{**required, name: last}), name) == last
        with pytest.raises(BadOption, match=rf"^{config.__name__}\.{name} is .*: it must be "):
            config(**{**required, name: beyond})


def test_most_configurations_have_bounds():
    assert sum(bool(list(bounds_of(config))) for config in CONFIGURATIONS.values()) > 35


def test_numbers_are_finite(config):
    for option in options_of(config):
        if option.type.startswith("float"):
            for value in (math.nan, math.inf, -math.inf):
                with pytest.raises(BadOption, match=rf"\.{option.name} is .*: it must be"):
                    config(**{**REQUIRED.get(config, {}), option.name: value})


def test_a_configuration_is_frozen_hashable_equal_by_value_and_travels(config):
    made, again = (config(**REQUIRED.get(config, {})) for _ in range(2))
    with pytest.raises(ValidationError, match="frozen"):
        setattr(made, next(iter(config.model_fields)), None)
    assert (made, hash(made)) == (again, hash(again))
    assert pickle.loads(pickle.dumps(made)) == made
    assert type(made)(**made.chosen) == made


def test_an_unknown_name_is_refused_with_the_near_ones(config):
    name = next(iter(config.model_fields))
    with pytest.raises(BadOption, match=rf"no option '{config.__name__}\.{name}x'\. Near: {name}"):
        config(**{**REQUIRED.get(config, {}), f"{name}x": 1})


class Base(Options):
    steps: int = Field(default=20, ge=1)
    """Steps at the most."""
    undocumented: float = 0.5


class Config(Base):
    names: tuple[str, ...] = ()
    """Names.

    Several of them.
    """
    mode: Literal["a", "b"] = "a"
    level: Level = "hybrid"
    limit: int | None = Field(default=None, ge=1, le=9)
    fast: bool = False
    own: list[int] = Field(default_factory=lambda: [1])
    key: str = Field(default="", repr=False, max_length=9)


class Required(Options):
    share: float = Field(gt=0, lt=1)


class Part(BaseModel, extra="forbid"):
    size: int


class Checked(Options):
    """With rules of its own, as a package's method may have."""

    low: int = 1
    high: int = 2
    part: Part | None = None

    @field_validator("low")
    @classmethod
    def _is_odd(cls, low):
        if low % 2:
            return low
        raise ValueError("an odd number is wanted")

    @model_validator(mode="after")
    def _is_in_order(self):
        if self.low > self.high:
            raise ValueError("low is above high")
        return self


def test_options_have_name_type_default_and_the_string_beneath():
    options = {option.name: option for option in options_of(Config)}
    assert list(options) == ["steps", "undocumented", "names", "mode", "level", "limit", "fast", "own", "key"]
    assert options["steps"] == ("steps", "int", 20, "Steps at the most.")
    assert options["names"].doc == "Names.\n\nSeveral of them."
    assert (options["undocumented"].doc, options["own"].default) == ("", [1])
    assert "int" in options["limit"].type
    assert options_of(None) == ()


@pytest.mark.parametrize(
    ("pair", "value"),
    [
        ("steps=3", 3),
        ("undocumented=1e-3", 0.001),
        ("names=x, y", ("x", "y")),
        ("names=", ()),
        ("mode=b", "b"),
        ("limit=none", None),
        ("limit=4", 4),
        ("fast=true", True),
        ("own=1,2", [1, 2]),
    ],
)
def test_values_are_read_from_text(pair, value):
    [read] = Config.read(pairs_of([pair])).chosen.values()
    assert read == value
    assert type(read) is type(value)


def test_values_of_code_are_read_as_they_are():
    assert Config.read({"names": ["x"], "steps": 2}).chosen == {"steps": 2, "names": ("x",)}


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ("steps=many", "steps is 'many': it must be a whole number, 1 or more"),
        ("steps=1.5", "steps is '1.5': it must be a whole number, 1 or more"),
        ("limit=10", "limit is '10': it must be a whole number, 1 to 9, or none"),
        ("mode=c", "mode is 'c': it must be one of a, b"),
        ("level=low", "level is 'low': it must be one of hybrid, local"),
        ("fast=perhaps", "fast is 'perhaps': it must be true or false"),
        ("own=1,x", "own is ['1', 'x']: it must be a list, each a whole number"),
        ("key=of ten letters", "key cannot be used: it must be text of 0 to 9 characters"),
    ],
)
def test_a_refusal_says_what_the_value_must_be_in_place_of_a_type_of_python(pair, message):
    with pytest.raises(BadOption) as raised:
        Config.read(pairs_of([pair]), where="[methods.x] ")
    assert str(raised.value) == f"[methods.x] {message}"
    assert raised.value.__cause__ is raised.value.__context__ is None  # pydantic's would show a key


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "Required.share is missing: it must be a number, above 0 and below 1"),
        ({"share": 1}, "Required.share is 1: it must be a number, above 0 and below 1"),
        ({"shore": 0.5}, "There is no option 'Required.shore'. Near: share. There are: share."),
    ],
)
def test_python_is_told_the_class(values, message):
    with pytest.raises(BadOption) as raised:
        Required(**values)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"low": 2}, "mine.low: an odd number is wanted"),
        ({"low": 3}, "mine: low is above high"),
        ({"part": {"size": "x"}}, "mine.part is {'size': 'x'}: it must be Part, or none"),
        ({"part": {"size": 1, "sizes": 2}}, "mine.part is {'size': 1, 'sizes': 2}: it must be Part, or none"),
    ],
)
def test_rules_of_ones_own_and_records_within_are_told_too(values, message):
    with pytest.raises(BadOption) as raised:
        Checked.read(values, where="mine.")
    assert str(raised.value) == message


def test_what_is_no_table_is_refused():
    with pytest.raises(BadOption, match="Config is 3: it must be a table of options"):
        Config.model_validate(3)


@pytest.mark.parametrize("text", ["steps", "=3", ""])
def test_a_pair_needs_a_name_and_an_equals_sign(text):
    with pytest.raises(BadOption, match="NAME=VALUE"):
        pairs_of([text])


def test_a_value_may_hold_equals_signs():
    assert pairs_of(["where=year>=2000"]) == {"where": "year>=2000"}

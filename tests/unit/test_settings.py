"""Flags beat the environment, the environment beats the file; nothing is guessed, and no key ever shown."""

from pathlib import Path

import pytest

from orienteer.errors import BadOption
from orienteer.settings import read_settings


@pytest.fixture
def read(tmp_path):
    """Give a function that reads a file of this content with this environment."""

    def read(text="", **environment):
        (tmp_path / "orienteer.toml").write_text(text)
        return read_settings(environment=environment, folders=(tmp_path,))

    return read


def test_nothing_is_set_by_default():
    found = read_settings(environment={}, folders=())
    assert (found.model, found.base_url, found.api_key, found.offline) == (None, None, None, False)
    assert found.method == "auto"
    assert found.limits().calls is None
    assert found.cache.is_absolute()


def test_flags_beat_environment_beats_file(read):
    found = read('model = "of the file"\nbase_url = "http://file/v1"', ORIENTEER_MODEL="of the environment")
    assert (found.model, found.base_url) == ("of the environment", "http://file/v1")
    flagged = found.with_flags(model="of the flag", base_url=None)
    assert (flagged.model, flagged.base_url) == ("of the flag", "http://file/v1")
    assert flagged.origins["model"] == "command line"
    assert found.origins["model"] == "ORIENTEER_MODEL"
    assert found.origins["base_url"].endswith("orienteer.toml")


def test_openai_variables_never_configure_a_model(read):
    found = read(OPENAI_API_KEY="k", OPENAI_BASE_URL="http://localhost:1/v1", OPENAI_MODEL="gpt-4o")
    assert found.model is None
    assert (found.api_key, found.base_url) == ("k", "http://localhost:1/v1")


def test_our_own_variables_beat_openais(read):
    found = read(
        **{"ORIENTEER_API_KEY": "ours", "OPENAI_API_KEY": "theirs"},
        **{"ORIENTEER_BASE_URL": "http://ours/v1", "OPENAI_BASE_URL": "http://theirs/v1"},
    )
    assert (found.api_key, found.base_url) == ("ours", "http://ours/v1")


def test_an_empty_variable_is_not_set(read):
    assert read('model = "m"', ORIENTEER_MODEL="").model == "m"


def test_the_first_folder_with_a_file_counts_alone(tmp_path):
    for name, text in (("first", 'model = "a"'), ("second", 'model = "b"\nmethod = "bm25"')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "orienteer.toml").write_text(text)
    found = read_settings(environment={}, folders=(tmp_path / "none", tmp_path / "first", tmp_path / "second"))
    assert (found.model, found.method) == ("a", "auto")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('modle = "m"', "Near: model"),
        ("model = 3", "text in quotes"),
        ('budget = "10"', "[budget]"),
        ('offline = "no"', "true or false"),
        ("model = ", "cannot be read"),
        ("[methods]\nark = 3", "[methods.ark]"),
        ("options = {}", "There is no option 'options' in "),
    ],
)
def test_a_wrong_file_is_refused_with_what_to_do(read, text, words):
    with pytest.raises(BadOption) as raised:
        read(text)
    assert words in str(raised.value)
    assert "orienteer.toml" in str(raised.value)


def test_budgets_come_from_flags_then_file(read):
    found = read("[budget]\ncalls = 5\nseconds = 2.5")
    assert (found.limits().calls, found.limits().seconds) == (5, 2.5)
    assert (found.limits(calls=7).calls, found.limits(usd=None).usd) == (7, None)


@pytest.mark.parametrize("text", ["[budget]\ncall = 5", "[budget]\ncalls = 0", '[budget]\ncalls = "many"'])
def test_a_wrong_budget_is_refused(read, text):
    with pytest.raises(BadOption):
        read(text).limits()


def test_a_model_is_opened_as_it_is_set(read):
    found = read(
        'model = "m"\nbase_url = "http://localhost:9/v1"\napi_key = "k"\n'
        "[server]\nretries = 1\n[price]\nprompt = 1.0\ncompletion = 2"
    )
    model = found.open_model("m")
    assert (model.name, model.base_url) == ("m", "http://localhost:9/v1")
    assert (model.config.api_key, model.config.retries) == ("k", 1)
    assert model.price.usd(prompt_tokens=1_000_000, cached_tokens=0, completion_tokens=1_000_000) == 3.0


@pytest.mark.parametrize("text", ["[server]\nretry = 1", "[price]\nprompt = 1.0", '[server]\nretries = "a few"'])
def test_wrong_server_settings_are_refused(read, text):
    with pytest.raises(BadOption):
        read(text).open_model("m")


def test_a_server_of_ones_own_is_given_up_sooner_unless_it_is_said_how_often(read):
    remote = read('base_url = "http://example.org/v1"').open_model("m").config.retries
    own = read('base_url = "http://127.0.0.1:8000/v1"').open_model("m").config.retries
    assert 0 < own < remote
    said = read('base_url = "http://127.0.0.1:8000/v1"\n[server]\nretries = 9').open_model("m")
    assert said.config.retries == 9
    assert read().open_model("m").config.retries == remote


def test_no_attempt_waits_longer_than_a_question_may_take(read):
    found = read("[server]\ntimeout_seconds = 30")
    assert [found.open_model("m", seconds=one).config.timeout_seconds for one in (None, 3, 99)] == [30, 3, 30]


@pytest.mark.parametrize("seconds", [0.1, 2, 59, 90, 119, 120, 121, 240, 1000])
@pytest.mark.parametrize("server", ["", "[server]\nretries = 9", "[server]\ntimeout_seconds = 7"])
def test_all_attempts_together_keep_to_twice_what_a_question_may_take(read, seconds, server):
    config = read(f'base_url = "http://127.0.0.1:8000/v1"\n{server}').open_model("m", seconds=seconds).config
    assert config.timeout_seconds * (config.retries + 1) <= 2 * seconds
    assert config.retries >= 1


def test_a_long_budget_leaves_the_attempts_as_they_are(read):
    assert read().open_model("m", seconds=600).config == read().open_model("m").config


def test_offline_allows_this_machine_only(read):
    found = read(ORIENTEER_OFFLINE="1")
    with pytest.raises(BadOption, match="ORIENTEER_OFFLINE"):
        found.open_model("m")
    assert found.with_flags(base_url="http://127.0.0.1:8000/v1").open_model("m").name == "m"
    assert found.with_flags(base_url="http://localhost:8000/v1").open_model("m").name == "m"
    assert read(ORIENTEER_OFFLINE="0").offline is False
    with pytest.raises(BadOption, match="perhaps"):
        read(ORIENTEER_OFFLINE="perhaps")


@pytest.fixture
def downloaded(tmp_path, monkeypatch):
    """Give a function that reads a file of the working directory, and the environment."""
    monkeypatch.chdir(tmp_path)

    def read(text, **environment):
        Path("orienteer.toml").write_text(text)
        return read_settings(environment=environment, folders=(Path(), tmp_path / "config"))

    return read


ELSEWHERE = "http://elsewhere.example/v1"


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "ORIENTEER_API_KEY"])
def test_a_downloaded_folder_cannot_take_a_key_elsewhere(downloaded, variable):
    taken = downloaded(f'model = "m"\nbase_url = "{ELSEWHERE}"', **{variable: "secret"})
    with pytest.raises(BadOption) as raised:
        taken.open_model("m")
    for word in (variable, ELSEWHERE, "--base-url", "ORIENTEER_BASE_URL"):
        assert word in str(raised.value)
    assert "secret" not in str(raised.value)
    flagged = taken.with_flags(base_url=ELSEWHERE)
    assert flagged.open_model("m").config.api_key == "secret"


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "ORIENTEER_API_KEY"])
def test_a_key_goes_to_an_address_that_the_person_chose(downloaded, tmp_path, variable):
    key = {variable: "k"}
    by_variable = downloaded(f'base_url = "{ELSEWHERE}"', ORIENTEER_BASE_URL="http://chosen.example/v1", **key)
    of_this_machine = downloaded('base_url = "http://localhost:8000/v1"', **key)
    of_openai = downloaded('model = "m"', **key)
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "orienteer.toml").write_text(f'base_url = "{ELSEWHERE}"')
    own = read_settings(environment=key, folders=(tmp_path / "none", tmp_path / "config"))
    for found in (by_variable, of_this_machine, of_openai, own):
        assert found.open_model("m").config.api_key == "k"


def test_a_file_may_name_an_address_and_its_own_key(downloaded):
    found = downloaded(f'base_url = "{ELSEWHERE}"\napi_key = "of the file"')
    assert found.open_model("m").config.api_key == "of the file"
    assert downloaded(f'base_url = "{ELSEWHERE}"').open_model("m").config.api_key is None


def test_a_key_is_never_shown(read):
    assert "secret" not in repr(read('api_key = "secret"'))


def test_an_embedder_is_opened_where_it_is_set(read):
    assert read().embedder == "minilm"
    found = read('embedder = "openai:e"\nembedder_url = "http://localhost:9/v1"\nbase_url = "http://localhost:8/v1"')
    embedder = found.open_embedder(found.embedder)
    assert (embedder.name, embedder.base_url, embedder.config.retries) == ("openai:e", "http://localhost:9/v1", 3)
    beside = read('base_url = "http://localhost:8/v1"').open_embedder("openai:e")
    assert beside.base_url == "http://localhost:8/v1"
    by_variable = read(ORIENTEER_EMBEDDER_URL="http://127.0.0.1:7/v1").open_embedder("openai:e")
    assert by_variable.base_url == "http://127.0.0.1:7/v1"


def test_texts_and_keys_go_to_no_embedder_that_was_not_allowed(read, downloaded):
    with pytest.raises(BadOption, match="ORIENTEER_EMBEDDER_URL"):
        read(ORIENTEER_OFFLINE="1", ORIENTEER_EMBEDDER_URL=ELSEWHERE).open_embedder("openai:e")
    with pytest.raises(BadOption, match="ORIENTEER_EMBEDDER_URL") as raised:
        downloaded(f'embedder_url = "{ELSEWHERE}"', OPENAI_API_KEY="secret").open_embedder("openai:e")
    assert "secret" not in str(raised.value)

"""Flags beat the environment, the environment beats the file; nothing is guessed, and no key ever shown."""

from pathlib import Path

import pytest

from orienteer.errors import BadOption
from orienteer.methods import method_of_settings, options_by_method
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


def test_a_server_of_ones_own_has_more_time_unless_it_is_said_how_much(read):
    assert read('base_url = "http://example.org/v1"').open_model("m").config.timeout_seconds == 120
    assert read('base_url = "http://127.0.0.1:8000/v1"').open_model("m").config.timeout_seconds == 600
    said = read('base_url = "http://127.0.0.1:8000/v1"\n[server]\ntimeout_seconds = 9').open_model("m")
    assert said.config.timeout_seconds == 9


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


@pytest.mark.corpus("attacks by a working directory")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f'base_url = "{ELSEWHERE}"', ("--base-url", "ORIENTEER_BASE_URL")),
        ('base_url = "http://user:secret@elsewhere.example/v1"', ("elsewhere.example", "--base-url")),
        ('base_url = "http://localhost.elsewhere.example/v1"', ("--base-url",)),
        ('base_url = "http://127.0.0.1@elsewhere.example/v1"', ("--base-url",)),
        ('base_url = "elsewhere.example"', ("--base-url",)),
        ('base_url = "http://[::1"', ("--base-url",)),
        (f'embedder_url = "{ELSEWHERE}"', ("ORIENTEER_EMBEDDER_URL",)),
        ('api_key = "secret"', ("ORIENTEER_API_KEY",)),
        ('cache = "/home/you/thesis"', ("ORIENTEER_CACHE",)),
        ('embedder = "model.onnx"', ("--embedder",)),
        ('model = "local:student.gguf"', ("student.gguf", "--model")),
        ('model = "local:smollm2/../student.gguf"', ("--model",)),
        ("offline = false", ("ORIENTEER_OFFLINE",)),
        ("[budget]\nusd = 1000", ("budget",)),
        ("[server]\nretries = 100", ("server",)),
        ("[price]\nprompt = 0\ncompletion = 0", ("price",)),
    ],
)
def test_a_downloaded_folder_names_this_machine_alone(downloaded, text, words):
    with pytest.raises(BadOption) as raised:
        downloaded(text if text.startswith("model") else f'model = "m"\n{text}')
    for word in (*words, "orienteer.toml of the working directory"):
        assert word in str(raised.value)
    assert "secret" not in str(raised.value)


def test_a_downloaded_folder_may_name_the_model_that_a_package_ships(downloaded):
    found = downloaded('model = "local:smollm2"')
    assert (found.model, found.model_address) == ("local:smollm2", "local")


@pytest.mark.parametrize("address", ["http://localhost:8000/v1", "http://127.0.0.1:1/v1", "https://[::1]:8/v1"])
def test_a_downloaded_folder_may_name_a_server_of_this_machine(downloaded, address):
    found = downloaded(f'model = "m"\nbase_url = "{address}"\n[methods.ark]\nagents = 1')
    assert found.open_model("m").base_url == address


@pytest.mark.corpus("attacks by a working directory")
def test_a_model_that_only_a_downloaded_folder_names_is_asked_nowhere_else(downloaded):
    for key in ({}, {"OPENAI_API_KEY": "secret"}, {"OPENAI_BASE_URL": ELSEWHERE}):
        found = downloaded('model = "m"\nembedder = "openai:e"', **key)
        with pytest.raises(BadOption, match="--model"):
            found.open_model()
        with pytest.raises(BadOption, match="--embedder"):
            found.open_embedder("openai:e")
        assert found.with_flags(model="m").open_model().name == "m"
        assert found.open_model("m").name == "m"  # named by whoever calls


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "ORIENTEER_API_KEY"])
def test_a_key_goes_to_an_address_that_the_person_chose(downloaded, tmp_path, variable):
    by_variable = downloaded("", ORIENTEER_BASE_URL=ELSEWHERE, **{variable: "k"})
    of_this_machine = downloaded('base_url = "http://localhost:8000/v1"', **{variable: "k"})
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "orienteer.toml").write_text(f'base_url = "{ELSEWHERE}"\napi_key = "k"')
    own = read_settings(environment={}, folders=(tmp_path / "none", tmp_path / "config"))
    for found in (by_variable, of_this_machine, own):
        assert found.open_model("m").config.api_key == "k"


@pytest.mark.corpus("attacks by a working directory")
@pytest.mark.parametrize("name", ["evil:X", "this:s", "sage:evil:X", "a.b:C", "sage:", ":"])
def test_a_downloaded_folder_names_methods_of_the_table_alone(downloaded, tmp_path, name):
    (tmp_path / "evil.py").write_text("raise SystemExit('imported')")
    with pytest.raises(BadOption, match="no method of the table"):
        method_of_settings(downloaded(f'method = "{name}"'))
    for table in (f'[methods."{name}"]\nx = 1', f'[methods.sage]\nseeds = "{name}"'):
        with pytest.raises(BadOption, match="no method of the table"):
            options_by_method(downloaded(table))
    assert method_of_settings(downloaded("").with_flags(method=name)) == name


@pytest.mark.parametrize("name", ["auto", "ark", "sage:anchor", "graphsearch:sage"])
def test_a_downloaded_folder_may_name_methods_of_the_table(downloaded, name):
    assert method_of_settings(downloaded(f'method = "{name}"')) == name


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


def test_offline_no_embedder_elsewhere_is_asked(read):
    with pytest.raises(BadOption, match="ORIENTEER_EMBEDDER_URL"):
        read(ORIENTEER_OFFLINE="1", ORIENTEER_EMBEDDER_URL=ELSEWHERE).open_embedder("openai:e")


def test_what_a_folder_may_not_set_comes_from_the_users_own_file(downloaded, tmp_path):
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "orienteer.toml").write_text("model = 'u'\noffline = true\n[budget]\ncalls = 3")
    found = downloaded("method = 'bm25'")
    assert (found.offline, found.limits().calls, found.method, found.model) == (True, 3, "bm25", None)
    assert found.origins["offline"].endswith("config/orienteer.toml")


def test_no_model_is_opened_where_none_is_named(read):
    with pytest.raises(BadOption, match="--model"):
        read().open_model()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"x = {'[' * 3000}{']' * 3000}", "too deeply"),
        (f"[{'.'.join('a' * 40_000)}]", "larger"),
        ('[server]\nbase_url = "http://elsewhere.example/v1"', "There is no option"),
        ('[server]\napi_key = "k"', "There is no option"),
        ("[server]\ntimeout_seconds = 1e300", "at most"),
        ("[server]\nretries = 1000000000000", "0 to 100"),
    ],
)
def test_a_hostile_file_is_told_in_a_line(read, text, words):
    with pytest.raises(BadOption, match=words) as raised:
        read(text, ORIENTEER_BASE_URL="http://localhost:1/v1").open_model("m")
    assert len(str(raised.value)) < 300


def test_a_home_that_there_is_not_is_told(read):
    with pytest.raises(BadOption, match="ORIENTEER_CACHE"):
        read(ORIENTEER_CACHE="~nobody-of-this-name/cache")

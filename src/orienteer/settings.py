"""What a person has set: flags beat the environment, the environment beats one TOML file. It is read nowhere else.

The file is `orienteer.toml` in the user's configuration folder. One in the working directory may be anyone's: it may
name servers of this machine, what they serve, and methods of the table, and then replaces what the user's own file says
of these. Anything else in it is refused; only the user's own file can set that.

    model = "gpt-5.2"                       as its server spells it, or local:FILE.gguf; without one, nothing is spent
    base_url = "http://localhost:8000/v1"
    api_key = "..."
    method = "auto"
    embedder = "minilm"                     minilm, openai:NAME, or the path of an ONNX model
    embedder_url = "http://localhost:8001/v1"   where openai:NAME is; without it, base_url
    vectors = "auto"                        of folders that questions name: made in the background, or off
    cache = "~/.cache/orienteer"
    offline = false
    [budget]                                of each question: calls, tokens, seconds, usd
    [server]                                timeout_seconds, retries, concurrency, mode,
                                            records_tokens
    [price]                                 US dollars for a million tokens: prompt, completion, cached
    [serve]                                 of orienteer serve: host, port, keys, allow_hosts, allow_origins, methods,
                                            cypher
    [methods.ark]                           options of a method

`OPENAI_API_KEY` and `OPENAI_BASE_URL` say where a model is and who asks. They never name a model, so they alone never
cause a call.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orienteer.errors import BadOption
from orienteer.llm.address import LOCAL, OFFLINE, PACKAGED, URL, is_loopback, is_offline, show
from orienteer.options import unknown_option

if TYPE_CHECKING:
    from orienteer.llm import Budget, OpenAIConfig, OpenAIModel
    from orienteer.llm.abilities import Abilities
    from orienteer.llm.local import LocalModel
    from orienteer.protocols import Embedder
    from orienteer.records import Price

FILE = "orienteer.toml"
_TABLES = ("budget", "server", "price", "serve", "methods")
# Bytes: three pages; reading long names takes time by their square.
_LARGEST_FILE = 1 << 15
_SERVER = ("timeout_seconds", "retries", "concurrency", "mode", "records_tokens")
_TEXTS = ("model", "base_url", "api_key", "method", "cache", "embedder", "embedder_url", "vectors")
_VECTORS = ("auto", "off")
VARIABLES: Mapping[str, tuple[str, ...]] = {
    "model": ("ORIENTEER_MODEL",),
    "base_url": ("ORIENTEER_BASE_URL", "OPENAI_BASE_URL"),
    "api_key": ("ORIENTEER_API_KEY", "OPENAI_API_KEY"),
    "embedder_url": ("ORIENTEER_EMBEDDER_URL",),
    "cache": ("ORIENTEER_CACHE",),
    "vectors": ("ORIENTEER_VECTORS",),
    "offline": (OFFLINE,),
}
"""The environment variables of each setting; the first one that is set wins."""
# What a file of the working directory may set: servers of this machine, what they serve, and methods of the table.
_OF_A_FOLDER = ("base_url", "embedder", "embedder_url", "method", "methods", "model")
# What settings leave behind when they go to another machine, which has its own.
_STAYING = ("api_key", "serve", "cache", "offline")
# How a person names each address for a single run.
_FLAGS: Mapping[str, str] = {"base_url": "--base-url", "embedder_url": "ORIENTEER_EMBEDDER_URL"}
# Defaults of a server on this machine. One that is not running is reported in 4 seconds; one without a
# graphics card may take minutes for a long prompt, and a reply that comes too late is lost.
_OWN: Mapping[str, Any] = {"retries": 3, "timeout_seconds": 600.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings. `origins` has the source of each value."""

    model: str | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    method: str = "auto"
    embedder: str = "minilm"
    """What embeds a graph unless another embedder is named."""
    embedder_url: str | None = None
    """Where `openai:NAME` is served; `base_url` where this is None."""
    vectors: str = "auto"
    """Whether the vectors of a folder that a question names are made in the background: auto, or off."""
    cache: Path = field(default_factory=lambda: _user_cache())
    offline: bool = False
    """No address but this machine's own is ever contacted."""
    budget: Mapping[str, Any] = field(default_factory=dict)
    server: Mapping[str, Any] = field(default_factory=dict)
    price: Mapping[str, Any] = field(default_factory=dict)
    serve: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Of `orienteer serve`; it may hold keys."""
    methods: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Options by method."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of whichever method runs. Only the command line sets these."""
    origins: Mapping[str, str] = field(default_factory=dict)
    abilities: Mapping[tuple[str, str], Abilities] | None = None
    """What is known of servers, by address and model, where these settings came from another machine; None where the
    cache says it."""

    def __reduce__(self) -> tuple[object, ...]:
        """Return these settings without keys and passwords. Raises `BadOption` for a password in an address."""
        from orienteer.llm.abilities import recall_all

        for name in _FLAGS:
            url: str | None = getattr(self, name)
            if url is not None and show(url) != url:
                raise BadOption(
                    f"{name} is {show(url)} with a password, which is not sent to other machines: leave it out of the "
                    f"address, and set {VARIABLES['api_key'][0]} on each of them"
                )
        # The other machine has its own keys and its own cache.
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in _STAYING}
        known = recall_all(self.cache) if self.abilities is None else self.abilities
        return _on_this_machine, ({**values, "abilities": known},)

    def with_flags(self, **flags: Any) -> Settings:
        """Return these settings with the flags in their place, except those that are None."""
        flags = {name: value for name, value in flags.items() if value is not None}
        return replace(self, **flags, origins={**self.origins, **dict.fromkeys(flags, "command line")})

    def limits(self, **flags: float | None) -> Budget:
        """Return the budget of a question; flags that are not None win. Raises `BadOption`."""
        from orienteer.llm.budget import Budget

        flags = {name: value for name, value in flags.items() if value is not None}
        return Budget.read({**self.budget, **flags}, where="[budget] ")

    @property
    def model_address(self) -> str:
        """Where the model is asked, as it may be shown."""
        return URL if (self.model or "").startswith(LOCAL) else _show_address(self.base_url)

    def open_model(self, name: str | None = None) -> OpenAIModel | LocalModel:
        """Return the model of this name, else the one that is set, at the address and with the key that are set.

        A name that begins with `local:` is a model in a file, which runs here. Raises `BadOption` where no model is
        named, and where the address may not be used; for a model in a file also `BadInput` and `MissingExtra`.
        """
        from orienteer.llm import OpenAIModel
        from orienteer.llm.abilities import recall
        from orienteer.records import Price

        if name is None and self.model is None:
            raise BadOption("no model is named: name one with --model or in ORIENTEER_MODEL")
        named_by = "--model" if name is None and self.origins.get("model") == FILE else None
        name = name or self.model or ""
        if name.startswith(LOCAL):
            from orienteer.llm.local import LocalModel
            from orienteer.llm.openai import OpenAIConfig

            server = OpenAIConfig.read(self._server_table(), where="[server] ")
            return LocalModel(name, server.model_copy(update=self._local_defaults()))
        price = Price.read(self.price, where="[price] ") if self.price else None
        config = self._server_config(name, "base_url", named_by, price=price)
        address = _show_address(config.base_url)
        known = recall(self.cache, address, name) if self.abilities is None else self.abilities.get((address, name))
        return OpenAIModel(name, config, abilities=known)

    def open_embedder(self, name: str, *, threads: int = 1) -> Embedder:
        """Return the embedder of this name. Raises `BadOption`, `BadInput`, `MissingExtra`."""
        from orienteer.index.embedders import SERVED, open_embedder

        if not name.startswith(SERVED):
            return open_embedder(name, threads=threads)
        named_by = "--embedder" if name == self.embedder and self.origins.get("embedder") == FILE else None
        setting = "embedder_url" if self.embedder_url else "base_url"
        return open_embedder(name, config=self._server_config(name, setting, named_by))

    def _server_config(self, name: str, setting: str, flag: str | None, *, price: Price | None = None) -> OpenAIConfig:
        """Return the configuration of a server whose address this setting holds. Raises `BadOption`."""
        from orienteer.llm.openai import OpenAIConfig

        url: str | None = getattr(self, setting)
        server = OpenAIConfig.read(self._server_table(), where="[server] ").chosen
        config = OpenAIConfig(base_url=url, api_key=self.api_key, price=price, **server)
        if url is not None and is_loopback(url):
            return config.model_copy(update=self._local_defaults())
        if self.offline:
            raise BadOption(
                f"the model {name!r} is at {_show_address(url)}, and {OFFLINE} allows this machine only: "
                f"unset it, or name a local server with {_FLAGS[setting]}"
            )
        # Only a file of the working directory names the model. It may be anyone's, for the folder may have been
        # downloaded: the model is asked on this machine or nowhere.
        if flag is not None:
            raise BadOption(
                f"{FILE} of the working directory alone names {name!r}, which would be asked at {_show_address(url)}, "
                f"not on this machine: name it with {flag}, or in {_user_folder() / FILE}"
            )
        return config

    def _server_table(self) -> Mapping[str, Any]:
        """Return `[server]`. Raises `BadOption` for a key that it does not have."""
        for key in self.server:
            if key not in _SERVER:
                raise unknown_option(repr(f"[server] {key}"), key, _SERVER)
        return self.server

    def _local_defaults(self) -> dict[str, Any]:
        """Return the defaults that differ for a server on this machine."""
        return {name: value for name, value in _OWN.items() if name not in self.server}


def read_settings(*, environment: Mapping[str, str] | None = None, folders: Sequence[Path] | None = None) -> Settings:
    """Return the settings of the environment and of the `orienteer.toml` of these folders. Raises `BadOption`."""
    environment = os.environ if environment is None else environment
    folders = (Path(), _user_folder()) if folders is None else folders
    files = [folder / FILE for folder in folders if (folder / FILE).is_file()]
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    if files and files[0].parent == Path():
        values = _read_file(files[0])
        _check_folder_file(values)
        origins = dict.fromkeys(values, str(files.pop(0)))
    for file in files[:1]:
        # What a file of the working directory may set is taken from one file alone: the two never mix.
        own = {name: value for name, value in _read_file(file).items() if not origins or name not in _OF_A_FOLDER}
        values |= own
        origins |= dict.fromkeys(own, str(file))
    for name, variables in VARIABLES.items():
        variable = next(filter(environment.get, variables), None)
        if variable is not None:
            values[name] = is_offline(environment) if name == "offline" else environment[variable]
            origins[name] = variable
    if values.get("vectors", "auto") not in _VECTORS:
        raise BadOption(f"{origins['vectors']} names {values['vectors']!r}: vectors are {' or '.join(_VECTORS)}")
    if "cache" in values:
        try:
            values["cache"] = Path(values["cache"]).expanduser()
        except RuntimeError as error:
            raise BadOption(
                f"{origins['cache']} names {values['cache']!r}, a home folder that does not exist"
            ) from error
    return Settings(origins=origins, **values)


def _on_this_machine(values: Mapping[str, Any]) -> Settings:  # Any: the values of settings are of several types
    """Return settings that came from another machine with the keys and the cache of this one. Raises `BadOption`."""
    own = read_settings(folders=(_user_folder(),))
    return Settings(**values, **{name: getattr(own, name) for name in _STAYING})


def _read_file(file: Path) -> dict[str, Any]:
    """Return the settings of a file, checked but for the options of its tables. Raises `BadOption`."""
    values = _parse(file)
    names = [field.name for field in fields(Settings) if field.name not in ("origins", "options", "abilities")]
    for name, value in values.items():
        if name not in names:
            raise unknown_option(f"{name!r} in {file}", name, names)
        if name in _TABLES and not isinstance(value, dict):
            raise BadOption(f"{name} in {file} must be a table: write [{name}]")
        for method, options in value.items() if name == "methods" else ():
            if not isinstance(options, dict):
                raise BadOption(f"methods.{method} in {file} must be a table: write [methods.{method}]")
        if name in _TEXTS and not isinstance(value, str):
            raise BadOption(f"{name} in {file} must be text in quotes, is {value!r}")
        if name == "offline" and not isinstance(value, bool):
            raise BadOption(f"offline in {file} must be true or false, is {value!r}")
    return values


def _parse(file: Path) -> dict[str, Any]:  # Any: what TOML holds
    """Return the content of a TOML file. Raises `BadOption` if it is too large or cannot be read."""
    import tomllib

    try:
        with file.open("rb") as stream:
            text = stream.read(_LARGEST_FILE + 1)
        if len(text) > _LARGEST_FILE:
            raise BadOption(f"{file} cannot be read: it is larger than {_LARGEST_FILE:,} bytes")
        return tomllib.loads(text.decode())
    except RecursionError as error:
        raise BadOption(f"{file} cannot be read: it nests too deeply") from error
    except (OSError, ValueError) as error:
        raise BadOption(f"{file} cannot be read: {error}") from error


def _check_folder_file(values: Mapping[str, Any]) -> None:
    """Raise `BadOption` for what a file of the working directory may not set: it may be anyone's."""
    user_file = _user_folder() / FILE
    # Servers of this machine are harmless; `methods.table` checks the names of methods.
    for name in ("base_url", "embedder_url"):
        if name in values and not is_loopback(values[name]):
            raise BadOption(
                f"{name} in {FILE} of the working directory is {show(values[name])}, which is not this machine: name "
                f"it with {' or '.join(dict.fromkeys((_FLAGS[name], VARIABLES[name][0])))}, or in {user_file}"
            )
    for name in values:
        if name not in _OF_A_FOLDER:
            variable = f"set {VARIABLES[name][0]}, or set it in" if name in VARIABLES else "set it in"
            raise BadOption(f"{name} cannot be set in {FILE} of the working directory: {variable} {user_file}")
    if (model := values.get("model", "")).startswith(LOCAL) and model != f"{LOCAL}{PACKAGED}":
        raise BadOption(
            f"model in {FILE} of the working directory is the file {model!r}, which may be anyone's: name it with "
            f"--model, or in {user_file}"
        )
    if (embedder := values.get("embedder", "minilm")) != "minilm" and not embedder.startswith("openai:"):
        raise BadOption(
            f"embedder in {FILE} of the working directory is the file {embedder!r}, which may be anyone's: name it "
            f"with --embedder, or in {user_file}"
        )


def _show_address(url: str | None) -> str:
    from orienteer.llm.openai import OPENAI_URL

    return show(url or OPENAI_URL)


def _user_folder() -> Path:
    from platformdirs import user_config_path

    return user_config_path("orienteer", appauthor=False)


def _user_cache() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("orienteer", appauthor=False)

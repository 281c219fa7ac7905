"""What `doctor` says of the model that is configured: what its server does, asked now or known from before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from orienteer.display import counted
from orienteer.errors import Error
from orienteer.llm.address import URL
from orienteer.records import Manner, Usage
from orienteer.serve.cli.output import Output
from orienteer.settings import Settings

if TYPE_CHECKING:
    from orienteer.llm.abilities import Abilities, Outcome
    from orienteer.llm.local import LocalModel
    from orienteer.llm.openai import OpenAIModel

_KEPT: dict[Outcome, str] = {
    "kept": "kept",
    "ignored": "ignored: taken, and not heeded",
    "refused": "refused",
    "unknown": "not told",
}
_GIVEN: dict[Outcome, str] = {"kept": "given", "ignored": "not given", "refused": "refused", "unknown": "not told"}
_ABILITIES: dict[str, tuple[str, dict[Outcome, str]]] = {
    "tools": ("native tools", _KEPT),
    "required_tools": ("a call where one is required", _KEPT),
    "parallel_calls": ("several calls in one reply", _KEPT | {"ignored": "one at a time"}),
    "json_schema": ("JSON schema of a reply", _KEPT),
    "length_limit": ("limit of tokens, a cut told", _KEPT),
    "seed": ("seed", _KEPT),
    "logprobs": ("log-probabilities", _GIVEN),
    "token_ids": ("token ids", _GIVEN),
    "usage": ("tokens that a reply took", _GIVEN),
}
"""What a person calls each ability, and what may become of it."""


class ModelCheck(NamedTuple):
    """What is known of the configured model's server."""

    configured: Settings
    abilities: Abilities | None = None
    """None where no model is configured, where its server was never asked, and where it failed now."""
    manner: Manner = Manner()
    """How the model is spoken to, where its abilities are known."""
    failure: Error | None = None
    is_new: bool = False
    """It was asked now."""

    def facts(self) -> dict[str, Any] | None:  # Any: JSON
        """Return it as JSON; None where nothing is known."""
        configured, abilities = self.configured, self.abilities
        if self.failure is not None:
            return {"url": configured.model_address, "model": configured.model, "error": str(self.failure)}
        if abilities is None:
            return None
        return {**abilities.model_dump(mode="json"), "dialect": self.manner.dialect, "adaptation": self.manner.why}

    def print(self, out: Output) -> None:
        """Print it, or how to find out."""
        configured, abilities = self.configured, self.abilities
        if configured.model is None:
            out.print("no model is named: doctor --probe --model NAME --base-url URL asks what a server does")
        elif abilities is None and self.failure is None:
            out.print(f"{configured.model} at {configured.model_address}: doctor --probe asks what its server does")
        if abilities is None:
            return
        when = "now" if self.is_new else f"{abilities.age()}; doctor --probe asks again"
        out.print(f"{abilities.model} at {abilities.url}, asked on {abilities.probed[:10]}, {when}:")
        rows = [[f"  {name}", words[getattr(abilities, field)]] for field, (name, words) in _ABILITIES.items()]
        context = "not told" if abilities.context_tokens is None else counted(abilities.context_tokens, "token")
        out.table([*rows, ["  context", context]])
        out.print(f"  so {self.manner.why}")
        if self.is_new:
            out.print(f"  asking took {_cost(abilities.spent)}")


def check_model(out: Output, configured: Settings, *, probes: bool) -> ModelCheck:
    """Return what is known of the configured model's server, asked now with `probes`, and then kept."""
    from orienteer.llm.abilities import recall

    if configured.model is None:
        return ModelCheck(configured)
    try:
        model = configured.open_model() if probes or configured.model_address == URL else None
        known = recall(configured.cache, configured.model_address, configured.model)
        abilities = _asked(out, model, configured.cache) if probes and model is not None else known
    except Error as failure:
        return ModelCheck(configured, failure=failure)
    if abilities is None:
        return ModelCheck(configured)
    return ModelCheck(configured, abilities, _manner(configured, abilities, model), is_new=probes)


def _asked(out: Output, model: OpenAIModel | LocalModel, cache: Path) -> Abilities:
    """Ask the server of a model what it does, and keep that. Raises `ModelError`."""
    from orienteer.llm.abilities import keep
    from orienteer.llm.local import LocalModel
    from orienteer.llm.probe import Probe

    out.note(f"asking {model.name} at {model.base_url} what it does, by six short requests")
    try:
        served = model.served() if isinstance(model, LocalModel) else model
        abilities = Probe(served).abilities().model_copy(update={"url": model.base_url})
    finally:
        model.close()
    try:
        keep(abilities, cache)
    except OSError as error:
        out.note(f"it cannot be kept for later: {error}")
    return abilities


def _manner(configured: Settings, abilities: Abilities, model: OpenAIModel | LocalModel | None) -> Manner:
    """Return how the model is spoken to from now on, and why in a few words."""
    from orienteer.llm.local import LocalModel

    if isinstance(model, LocalModel):
        return Manner(dialect=model.dialect, why=model.adaptation)
    if (mode := configured.server.get("mode", "auto")) != "auto":
        return Manner(why=f"calls are asked for as [server] says: mode = {mode}")
    return Manner(dialect=abilities.dialect, why=abilities.adaptation)


def _cost(spent: Usage) -> str:
    price = "at no known price" if spent.usd is None else f"{spent.usd:.4f} USD"
    return f"{counted(spent.calls, 'call')}, {counted(spent.tokens, 'token')}, {spent.seconds:.1f} s, {price}"

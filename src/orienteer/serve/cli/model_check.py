"""What `doctor` says of the model that is configured: what its server does, asked now or known from before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from orienteer.display import counted
from orienteer.errors import ModelError
from orienteer.llm.address import URL
from orienteer.records import Usage
from orienteer.serve.cli.output import Output
from orienteer.settings import Settings

if TYPE_CHECKING:
    from orienteer.llm.abilities import Abilities, Outcome

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
    failure: ModelError | None = None
    is_new: bool = False
    """It was asked now."""

    def facts(self) -> dict[str, Any] | None:  # Any: JSON
        """Return it as JSON; None where nothing is known."""
        configured, abilities = self.configured, self.abilities
        if self.failure is not None:
            return {"url": configured.model_address, "model": configured.model, "error": str(self.failure)}
        if abilities is None:
            return None
        return {**abilities.model_dump(mode="json"), "dialect": abilities.dialect, "adaptation": self._adaptation()}

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
        out.print(f"  so {self._adaptation()}")
        if self.is_new:
            out.print(f"  asking took {_cost(abilities.spent)}")

    def _adaptation(self) -> str:
        assert self.abilities is not None  # whoever asks has seen that
        if self.abilities.url == URL:
            return self.configured.open_model().manner.why.partition(": ")[2]  # as its file says, or our grammar does
        mode = self.configured.server.get("mode", "auto")
        return self.abilities.adaptation if mode == "auto" else f"calls are asked for as [server] says: mode = {mode}"


def check_model(out: Output, configured: Settings, *, probes: bool) -> ModelCheck:
    """Return what is known of the configured model's server, asked now with `probes`, and then kept."""
    from orienteer.llm.abilities import recall

    if configured.model is None:
        return ModelCheck(configured)
    if not probes:
        return ModelCheck(configured, recall(configured.cache, configured.model_address, configured.model))
    try:
        return ModelCheck(configured, _asked(out, configured), is_new=True)
    except ModelError as failure:
        return ModelCheck(configured, failure=failure)


def _asked(out: Output, configured: Settings) -> Abilities:
    """Ask the server of the configured model what it does, and keep that. Raises `ModelError`."""
    from orienteer.llm.abilities import keep
    from orienteer.llm.local import LocalModel
    from orienteer.llm.probe import Probe

    model = configured.open_model()
    out.note(f"asking {model.name} at {model.base_url} what it does, by six short requests")
    served = model.served() if isinstance(model, LocalModel) else model
    try:
        abilities = Probe(served).abilities().model_copy(update={"url": model.base_url})
    finally:
        model.close()
    try:
        keep(abilities, configured.cache)
    except OSError as error:
        out.note(f"it cannot be kept for later: {error}")
    return abilities


def _cost(spent: Usage) -> str:
    price = "at no known price" if spent.usd is None else f"{spent.usd:.4f} USD"
    return f"{counted(spent.calls, 'call')}, {counted(spent.tokens, 'token')}, {spent.seconds:.1f} s, {price}"

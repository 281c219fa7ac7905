"""What one question may spend, and the account of what it has spent."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pydantic import Field

from orienteer.errors import BadOption, BudgetExhausted, ModelError, ModelLate
from orienteer.options import Options
from orienteer.protocols import News, Run
from orienteer.records import Price, Usage


class Budget(Options):
    """Limits for one question. None is no limit."""

    calls: int | None = Field(
        default=None, ge=1, strict=True, description="Calls of a model, repair turns and the last turn included."
    )
    tokens: int | None = Field(default=None, ge=1, strict=True, description="Prompt and completion tokens together.")
    seconds: float | None = Field(
        default=None,
        gt=0,
        description="Time from the start of the question. No call begins after it; one of a model that has begun is "
        "cut off.",
    )
    usd: float | None = Field(default=None, gt=0, description="Money. Needs a model whose price is known.")

    def without(self, spent: Usage) -> Budget:
        """Return what is left of it; of a limit that is reached the least that a limit can be."""
        return Budget(
            calls=None if self.calls is None else max(1, self.calls - spent.calls),
            tokens=None if self.tokens is None else max(1, self.tokens - spent.tokens),
            seconds=None if self.seconds is None else max(1e-3, self.seconds - spent.seconds),
            usd=None if self.usd is None else max(1e-9, self.usd - (spent.usd or 0.0)),
        )

    def require_price(self, model: str, price: Price | None) -> None:
        """Raise `BadOption` where money is limited and the price of the model is not known."""
        if self.usd is not None and price is None:
            raise BadOption(
                f"a budget of {self.usd:g} USD cannot be kept: the price of {model!r} is not known. "
                "Give its price, or limit calls or tokens instead."
            )


@contextmanager
def cut_off_by(run: Run) -> Iterator[None]:
    """Turn `ModelLate` into the end of the budget, `BudgetExhausted`.

    Where nothing has answered in all of a question's time it stays a failure of the model: a dead server is no spent
    budget.
    """
    try:
        yield
    except ModelLate as late:
        if not run.usage().calls:
            raise
        raise BudgetExhausted("seconds", str(late)) from late


class Allowance:
    """One question's `Run`: its budget, seed and listener, shared by all its agents and safe among threads.

    Every model call is claimed by `check` before it is made and settled by one `charge` after, so that racing agents
    never make more calls than the budget has. The last turns are reserved inside the budget: an ordinary call is
    refused as soon as it would eat into them, and only the run that `final` gives may use them. What the next call
    will take in tokens, money and time is not known before it is made: it is expected to take what the last one took.
    """

    def __init__(
        self,
        budget: Budget | None = None,
        *,
        random_seed: int = 0,
        listener: Callable[[News], None] | None = None,
        reserve: int = 1,
    ) -> None:
        if reserve < 0:
            raise BadOption(f"the number of reserved calls must be 0 or more, is {reserve}")
        self.budget = budget if budget is not None else Budget()
        self._random_seed = random_seed
        self._listener = listener
        self.hears_parts = False
        """Whether the listener is told an answer while it is written."""
        self._reserve = reserve
        self._claimed = 0
        self._open = 0
        self._spent = Usage()
        self._last = Usage()
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._telling = threading.RLock()

    @property
    def random_seed(self) -> int:
        """The seed that everything random in this run derives from."""
        return self._random_seed

    def check(self) -> None:
        """Claim one call. Raises `BudgetExhausted` where it would eat into the last turns.

        `ModelError` where the server does not say what calls use, of which so much is allowed.
        """
        with self._lock:
            self._refuse_unless_left(self._reserve)
            self._claim()

    def final(self) -> Run:
        """Return this run as its last turn sees it: the first call it claims may come out of the reserve."""
        return _Share(self, reserved=1)

    def without_reserve(self) -> Run:
        """Return this run as those see it whose last turns are ordinary calls, as a retriever's within a method."""
        return _Share(self, reserved=0)

    def charge(self, usage: Usage, *, is_typical: bool = True) -> None:
        """Settle one claimed call with what it has spent; an empty `Usage` where the call failed.

        Where it is not typical, as that of an embedder, the next call is not expected to take as much.
        """
        with self._lock:
            self._open = max(0, self._open - 1)
            self._spent += usage
            if usage.calls and is_typical:
                self._last = usage

    def tell(self, news: News) -> None:
        """Pass news to the listener, one at a time."""
        if self._listener is not None:
            with self._telling:
                self._listener(news)

    def usage(self) -> Usage:
        """Return what has been spent so far; `seconds` is the time since the start, waiting included."""
        with self._lock:
            return self._spent.model_copy(update={"seconds": self._elapsed()})

    def seconds_left(self) -> float | None:
        """Return how long whatever begins now may take, 0 or less where the time is over; None without a limit."""
        return None if self.budget.seconds is None else self.budget.seconds - self._elapsed()

    def claim_final(self) -> None:
        """Claim one call out of the reserve. Raises `BudgetExhausted` where nothing at all is left."""
        with self._lock:
            self._refuse_unless_left(None)
            self._reserve = max(0, self._reserve - 1)
            self._claim()

    def _claim(self) -> None:
        self._claimed += 1
        self._open += 1

    def _elapsed(self) -> float:
        return time.monotonic() - self._started

    def _refuse_unless_left(self, kept: int | None) -> None:
        """Raise unless a call can begin with `kept` further ones after it; None is the last turn, which keeps none."""
        reserved = 0 if kept is None else kept
        budget, spent, last = self.budget, self._spent, self._last
        if budget.calls is not None and self._claimed + reserved >= budget.calls:
            raise _exhausted("calls", self._claimed, budget.calls, reserved)
        # The last turn is asked for as long as anything is left; no other begins unless it is expected to fit.
        expected = 0 if kept is None else self._open + 1 + kept
        if budget.tokens is not None:
            if last.calls and not last.tokens:
                raise _unkept("tokens")
            _compare("tokens", spent.tokens, last.tokens * expected, budget.tokens)
        if budget.usd is not None:
            if spent.usd is None:
                raise _unkept("usd")
            _compare("usd", spent.usd, (last.usd or 0.0) * expected, budget.usd)
        if budget.seconds is not None:
            in_a_row = 0 if kept is None else 1 + min(kept, 1)  # the last turns of several agents overlap
            _compare("seconds", self._elapsed(), last.seconds * in_a_row, budget.seconds)


class _Share:
    """An allowance of which the first few claims may come out of the reserve; all others are ordinary."""

    def __init__(self, allowance: Allowance, *, reserved: int) -> None:
        self._allowance, self._reserved = allowance, reserved

    @property
    def random_seed(self) -> int:
        return self._allowance.random_seed

    @property
    def hears_parts(self) -> bool:
        return self._allowance.hears_parts

    def check(self) -> None:
        if not self._reserved:
            self._allowance.check()
            return
        self._allowance.claim_final()
        self._reserved -= 1

    def final(self) -> Run:
        return self

    def without_reserve(self) -> Run:
        return self._allowance.without_reserve()

    def usage(self) -> Usage:
        return self._allowance.usage()

    def seconds_left(self) -> float | None:
        return self._allowance.seconds_left()

    def charge(self, usage: Usage, *, is_typical: bool = True) -> None:
        self._allowance.charge(usage, is_typical=is_typical)

    def tell(self, news: News) -> None:
        self._allowance.tell(news)


def _compare(limit: str, spent: float, expected: float, budget: float) -> None:
    if spent >= budget or spent + expected > budget:
        raise _exhausted(limit, spent, budget, expected)


def _unkept(limit: str) -> ModelError:
    return ModelError(
        f"the server did not say what a call used, or said what cannot be, so the budget of {limit} cannot be kept: "
        "limit calls or seconds instead"
    )


def _exhausted(limit: str, spent: float, budget: float, kept: float) -> BudgetExhausted:
    rest = f", and the rest is kept for the last turn ({kept:g} {limit})" if spent < budget and kept else ""
    return BudgetExhausted(limit, f"the budget of {budget:g} {limit} is spent: {spent:g} used{rest}")


# What a model costs, where that is known. A price that is not in the table is None: it is never taken for zero.


# List prices of OpenAI's standard tier, https://platform.openai.com/docs/pricing, as of June 2025.
_PRICES = {
    "gpt-4.1": Price(prompt=2.00, cached=0.50, completion=8.00),
    "gpt-4.1-mini": Price(prompt=0.40, cached=0.10, completion=1.60),
    "gpt-4.1-nano": Price(prompt=0.10, cached=0.025, completion=0.40),
    "gpt-4o": Price(prompt=2.50, cached=1.25, completion=10.00),
    "gpt-4o-2024-05-13": Price(prompt=5.00, completion=15.00),  # the first snapshot kept its own price
    "gpt-4o-mini": Price(prompt=0.15, cached=0.075, completion=0.60),
    "text-embedding-3-large": Price(prompt=0.13, completion=0.0),
    "text-embedding-3-small": Price(prompt=0.02, completion=0.0),
    "text-embedding-ada-002": Price(prompt=0.10, completion=0.0),
}


def price_of(model: str) -> Price | None:
    """Return the list price of a model on OpenAI's own server, or None.

    A dated snapshot (gpt-4o-2024-08-06) has the price of its name; any other ending is another product
    (gpt-4o-audio-preview), and so is a fine-tuned model.
    """
    if model in _PRICES:
        return _PRICES[model]
    return _PRICES.get(re.sub(r"-\d{4}-\d{2}-\d{2}$", "", model))

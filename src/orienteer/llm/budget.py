"""What one question may spend, and the account of what it has spent."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field

from pydantic import Field

from orienteer.errors import BadOption, BudgetExhausted, ModelError, ModelLate
from orienteer.options import Options
from orienteer.protocols import News, Run
from orienteer.records import Price, Usage


class Budget(Options):
    """Limits for one question; None means no limit."""

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
        """Return the rest of the budget; a limit that is reached becomes the smallest possible one."""
        return Budget(
            calls=None if self.calls is None else max(1, self.calls - spent.calls),
            tokens=None if self.tokens is None else max(1, self.tokens - spent.tokens),
            seconds=None if self.seconds is None else max(1e-3, self.seconds - spent.seconds),
            usd=None if self.usd is None else max(1e-9, self.usd - (spent.usd or 0.0)),
        )

    def require_price(self, model: str, price: Price | None) -> None:
        """Raise `BadOption` if money is limited and the price of the model is not known."""
        if self.usd is not None and price is None:
            raise BadOption(
                f"a budget of {self.usd:g} USD cannot be kept: the price of {model!r} is not known. "
                "Give its price, or limit calls or tokens instead."
            )


@contextmanager
def cut_off_by(run: Run) -> Iterator[None]:
    """Turn `ModelLate` into the end of the budget, `BudgetExhausted`.

    If nothing has answered in all of a question's time, it stays a failure of the model: a dead server is not a spent
    budget.
    """
    try:
        yield
    except ModelLate as late:
        if not run.usage().calls:
            raise
        raise BudgetExhausted("seconds", str(late)) from late


@dataclass
class _Account:
    """The claims and the spending of one question, under a lock."""

    reserve: int
    claimed: int = 0
    open: int = 0
    """Claimed calls that are not settled yet."""
    spent: Usage = Usage()
    last: Usage = Usage()
    keeps_answer: bool = False
    """The last call of the reserve is for the answer, not for an agent's last turn."""
    is_stopped: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


class Allowance:
    """One question's `Run`: its budget, seed and listener, shared by all its agents and safe among threads.

    Every model call is claimed by `check` before it is made and settled by one `charge` after, so that racing agents
    never make more calls than the budget has. The last turns are reserved inside the budget: an ordinary call is
    refused as soon as it would need the reserve, and only the run that `final` returns may use it. The next call is
    expected to take as many tokens, as much money and as long as the last one did.
    """

    def __init__(
        self,
        budget: Budget | None = None,
        *,
        random_seed: int = 0,
        listener: Callable[[News], None] | None = None,
        reserve: int = 1,
        keeps_answer: bool = False,
    ) -> None:
        """With `keeps_answer` the last call of the reserve waits for `allow_answer`."""
        if reserve < 0:
            raise BadOption(f"the number of reserved calls must be 0 or more, is {reserve}")
        self.budget = budget if budget is not None else Budget()
        self._random_seed = random_seed
        self._listener = listener
        self.hears_parts = False
        """Whether the listener receives an answer while it is written."""
        self._account = _Account(reserve, keeps_answer=keeps_answer and reserve > 0)
        self._is_share = False
        self._final_claims = 0  # that this share may take out of the reserve
        self._started = time.monotonic()
        self._notifying = threading.RLock()

    @property
    def random_seed(self) -> int:
        """The seed of everything random in this run."""
        return self._random_seed

    def check(self) -> None:
        """Claim one call. Raises `BudgetExhausted` if it would need the reserve, or after `stop`.

        Raises `ModelError` if the server does not report what is limited.
        """
        account = self._account
        with account.lock:
            if account.is_stopped:
                raise BudgetExhausted("interrupted", "stopped by whoever asked")
            if self._final_claims:
                if account.keeps_answer:
                    self._refuse_unless_left(1)
                self._refuse_unless_left(None)
                self._final_claims -= 1
                account.reserve = max(0, account.reserve - 1)
            else:
                self._refuse_unless_left(account.reserve)
            account.claimed += 1
            account.open += 1

    def final(self) -> Run:
        """Return this run for its last turn: the first call that it claims may come out of the reserve."""
        return self if self._is_share else self._share(1)

    def without_reserve(self) -> Run:
        """Return this run without its reserve, for a part such as a retriever within a method."""
        return self._share(0)

    @property
    def is_stopped(self) -> bool:
        """Whether the question was stopped."""
        return self._account.is_stopped

    def stop(self) -> None:
        """Refuse every further call, so that agents end with their steps kept."""
        self._account.is_stopped = True

    def allow_answer(self) -> None:
        """Give the call that was kept for the answer to the next last turn."""
        self._account.keeps_answer = False

    def _share(self, final_claims: int) -> Allowance:
        share = copy(self)  # with the same account
        share._is_share, share._final_claims = True, final_claims
        return share

    def charge(self, usage: Usage, *, is_typical: bool = True) -> None:
        """Settle one claimed call with its usage, which is empty if the call failed.

        After a call that is not typical, such as an embedder's, the next one is not expected to take as much.
        """
        account = self._account
        with account.lock:
            account.open = max(0, account.open - 1)
            account.spent += usage
            if usage.calls and is_typical:
                account.last = usage

    def tell(self, news: News) -> None:
        """Pass news to the listener, one at a time."""
        if self._listener is not None:
            with self._notifying:
                self._listener(news)

    def usage(self) -> Usage:
        """Return the usage so far; `seconds` is the time since the start, waiting included."""
        with self._account.lock:
            return self._account.spent.model_copy(update={"seconds": self._elapsed()})

    def seconds_left(self) -> float | None:
        """Return the seconds left, which may be negative; None without a limit.

        It is 0 after `stop`: tools that the last message called are not run either.
        """
        if self._account.is_stopped:
            return 0.0
        return None if self.budget.seconds is None else self.budget.seconds - self._elapsed()

    def _elapsed(self) -> float:
        return time.monotonic() - self._started

    def _refuse_unless_left(self, kept: int | None) -> None:
        """Raise unless a call and `kept` further ones fit; None is the last turn, which keeps none."""
        reserved = 0 if kept is None else kept
        budget, account = self.budget, self._account
        spent, last = account.spent, account.last
        if budget.calls is not None and account.claimed + reserved >= budget.calls:
            raise _exhausted("calls", account.claimed, budget.calls, reserved)
        # The last turn begins if anything is left, every other call only if it is expected to fit.
        expected = 0 if kept is None else account.open + 1 + kept
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


# Prices of models. A price that is not in the table is None, never zero.

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

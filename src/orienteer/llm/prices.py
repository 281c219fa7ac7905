"""What a model costs, where that is known. A price that is not in the table is None: it is never taken for zero."""

from __future__ import annotations

import re

from orienteer.records import Price

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

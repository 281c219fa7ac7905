"""Figures as text: short, and all of one kind in the same way."""

from __future__ import annotations

NOTHING = "–"
_ENOUGH = 100  # from here on, figures have no decimals


def share(value: float, digits: int = 3) -> str:
    """Write a share of 1 without its leading zero, `.482`, and a larger number with as many digits, `1.25`."""
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("0.") else f"{value:.{digits - 1}f}"


def figure(value: float) -> str:
    """Write a quantity with about three figures."""
    return f"{value:,.0f}" if value >= _ENOUGH else f"{value:.3g}"


def percent(part: float, whole: float) -> str:
    """Write a part of a whole in per cent; a dash if the whole is 0."""
    return f"{100 * part / whole:.0f} %" if whole else NOTHING


def without_zero(text: str) -> str:
    """Return a number without the zero before its point, as `.35`."""
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text

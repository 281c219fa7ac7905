"""Ask all questions and print the figures: `PYTHONPATH=tests python -m tempting [--show wrong] [--kind KIND]`."""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict

from tempting.asking import SEEDS, ask_all


def main() -> None:
    """Ask, and print the figures by kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="append", default=[], choices=["right", "refused", "wrong"])
    parser.add_argument("--kind")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    args = parser.parse_args()
    figures: dict[str, Counter[str]] = defaultdict(Counter)
    for answered in ask_all(range(args.seeds), kind=args.kind):
        figures[answered.pair.kind][answered.verdict] += 1
        if answered.verdict in args.show:
            print(answered.told())
    figures["all"] = sum(figures.values(), Counter[str]())
    print(f"{'':26}{'right':>8}{'refused':>8}{'wrong':>8}")
    for kind, counts in figures.items():
        share = counts["right"] / counts.total()
        print(f"{kind:26}{counts['right']:8}{counts['refused']:8}{counts['wrong']:8}{share:8.0%}")


if __name__ == "__main__":
    main()

"""What is counted for Prometheus: requests by their route's template, questions, tokens, reloads; never a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from orienteer.serve.http.slots import Slots

if TYPE_CHECKING:
    from orienteer.records import Usage

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)  # seconds


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter("orienteer_requests", "Requests", ["route", "status"], registry=self._registry)
        self._seconds = Histogram(
            "orienteer_request_seconds", "Seconds of a request", ["route"], registry=self._registry, buckets=_BUCKETS
        )
        self._tokens = Counter("orienteer_model_tokens", "Tokens of the model", ["kind"], registry=self._registry)
        self._calls = Counter("orienteer_model_calls", "Calls of the model", registry=self._registry)
        self._reloads = Counter("orienteer_reloads", "New generations of graphs taken", registry=self._registry)

    def watch(self, slots: Slots) -> None:
        """Show the places of questions."""
        for name, about, count in (
            ("orienteer_questions_running", "Questions that run", lambda: slots.running),
            ("orienteer_questions_waiting", "Questions in line", lambda: slots.waiting),
            (
                "orienteer_questions_turned_away",
                "Questions turned away, for the line was full",
                lambda: slots.turned_away,
            ),
        ):
            Gauge(name, about, registry=self._registry).set_function(count)

    def count_request(self, route: str, status: int, seconds: float) -> None:
        """Count a request that has ended."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def count_usage(self, usage: Usage) -> None:
        """Count what a question has spent."""
        self._calls.inc(usage.calls)
        self._tokens.labels("prompt").inc(usage.prompt_tokens)
        self._tokens.labels("completion").inc(usage.completion_tokens)

    def count_reload(self) -> None:
        """Count a new generation of a graph."""
        self._reloads.inc()

    def text(self) -> bytes:
        """Return everything as Prometheus reads it."""
        return generate_latest(self._registry)

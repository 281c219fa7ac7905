"""GraphScout (003): its solver, which explores a graph by code and answers in a line."""

from orienteer.methods.graphscout.method import GraphScout

__all__ = ["GraphScout"]

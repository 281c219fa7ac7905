"""Orienteer finds its way through knowledge graphs."""

__version__ = "0.1.0.dev0"

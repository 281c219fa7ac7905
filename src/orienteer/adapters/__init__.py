"""Retrievers of other people's frameworks, a module each, imported by name alone: each needs its extra."""

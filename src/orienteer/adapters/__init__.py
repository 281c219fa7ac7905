"""Retrievers for third-party frameworks, one module each, imported by name: each needs its extra."""

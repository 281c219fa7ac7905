"""The version of this package, in its own file, which imports nothing."""

__version__ = "0.1.0"

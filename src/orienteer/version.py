"""The version of this package: a file of its own, so that whoever writes it down need not import all the rest."""

__version__ = "0.1.0.dev0"

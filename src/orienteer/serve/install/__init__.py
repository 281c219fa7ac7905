"""Agents' configuration files: which there are, what goes into them, and how it comes out again to the byte."""

"""A model's Python as a tool: how it is configured, run, and what it has shown."""

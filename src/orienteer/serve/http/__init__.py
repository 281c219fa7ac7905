"""Graphs over HTTP, for programs, for third-party chat clients, and for a page. Needs the extra `serve`."""

"""Records about a graph, the same for the command line, HTTP, MCP and Python."""

"""A chat with a graph, at a terminal or line by line: `orienteer chat`."""

"""`graphsearch`: agentic deep search over the two channels of a graph knowledge base."""

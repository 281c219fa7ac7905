"""GraphScout (003): its solver, which explores a graph by code and answers in a line."""

"""`spark`, one planned call: the plan, its check, its run, and the prompt made of the graph."""

"""A graph in a database of somebody else's, spoken to over Bolt."""

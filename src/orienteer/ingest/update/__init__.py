"""Updates of graphs: tables and databases are compared with a graph; only what changed is read."""

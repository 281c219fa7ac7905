"""Updates from a database."""

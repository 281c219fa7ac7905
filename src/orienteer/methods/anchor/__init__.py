"""`anchor`, the method that needs no model: its road is read from `method` downwards."""

"""A report on runs as one self-contained page."""

"""Questions of a grid of answer types, patterns and difficulties, each proved by a query that was run again.

GraphScout (003), section 3.3 and appendix B.3.
"""

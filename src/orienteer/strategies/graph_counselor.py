"""`graph-counselor`: being written by the lead; helper "rewards" leaves it alone."""

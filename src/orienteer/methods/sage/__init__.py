"""SAGE (paper 004): seeds by any method, their neighbours one edge away, pruned. The way in is `Sage`."""

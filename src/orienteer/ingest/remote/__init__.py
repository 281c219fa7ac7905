"""Graphs at an address: `address` says which they are, `site` and `bucket` read there, `push` and `pull` use them."""

"""Damage to the files of a graph, by a seed: bits that flip, bytes that are lost, parts that change places."""

import numpy as np

KINDS = ("a bit", "many bits", "ones", "zeros", "swapped", "a page")


def damaged(content: bytes, kind: str, random: np.random.Generator) -> bytes:
    """Return other content of the same length, the same where there is no other."""
    data = np.frombuffer(content, np.uint8).copy()
    if not len(data):
        return content
    places = random.integers(0, len(data), 64)
    if kind == "a bit":
        data[places[0]] ^= 1 << random.integers(8)
    elif kind == "many bits":
        data[places] ^= (1 << random.integers(8, size=64)).astype(np.uint8)
    elif kind in ("ones", "zeros"):
        begin = int(places[0]) & ~7
        data[begin : begin + 8] = 255 if kind == "ones" else 0
    elif kind == "swapped":
        data[places] = data[random.permutation(places)]
    else:
        data[: 1 << 12] = random.integers(0, 256, len(data[: 1 << 12]))
    return data.tobytes()

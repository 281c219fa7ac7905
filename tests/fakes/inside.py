"""A door into a module for tests that must change what its code uses: a bound, a clock, a package that is not there."""

import sys


def inside(thing):
    """Return the module that a class or function is written in: `monkeypatch.setattr(inside(Gml), "MOST_RECORD", 9)`.

    The last resort. The name of the module stays out of the test, so that the module can move.
    """
    return sys.modules[thing.__module__]

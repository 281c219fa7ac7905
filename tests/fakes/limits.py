"""What a question says of its hits, among the options that a test gives a method."""

LIMITS = ("k", "node_types", "where")


def limits_in(options):
    """Take k and the filters out of options, for the question."""
    return {name: options.pop(name) for name in LIMITS if name in options}

"""Why an update is an import of everything."""


class ImportWhole(Exception):  # it is no error: the caller imports everything
    """Rows alone do not tell what an import would give; the message says why, as the end of a sentence."""

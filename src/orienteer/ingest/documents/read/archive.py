"""Archives that a document is packed in: bounded before anything is unpacked."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from io import BytesIO

from orienteer.errors import BadInput
from orienteer.ingest.bounds import MOST_RATIO

MOST_UNPACKED = 1 << 30
"""Bytes that an archive may unpack to."""
SMALL = 16 << 20
"""Bytes that any archive may unpack to, whatever its ratio: less than a table's, for it is held as a whole."""

BROKEN = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError, OSError)
"""What Python's readers of archives raise where one is broken."""
ENCRYPTED = "encrypted: save it without a password"
_OLE = b"\xd0\xcf\x11\xe0"
"""How an Office file with a password begins, and one from before 2007."""


def check_archive(stream: BytesIO) -> None:
    """Raise `BadInput` for a file that is no ZIP archive, or one that unpacks to far more than it is."""
    if stream.getbuffer()[: len(_OLE)] == _OLE:
        raise BadInput(f"{ENCRYPTED}, or in the new format if it is an old one")
    try:
        with zipfile.ZipFile(stream) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise BadInput(f"a broken archive ({error}): save it again") from error
    packed = max(1, stream.getbuffer().nbytes)
    if unpacked > MOST_UNPACKED or (unpacked > SMALL and unpacked > MOST_RATIO * packed):
        raise BadInput(f"unpacks from {packed:,} bytes to {unpacked:,}: a bomb, or a file to be split first")

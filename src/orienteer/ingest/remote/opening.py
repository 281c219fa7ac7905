"""The files at an address, to be read."""

from __future__ import annotations

from orienteer.ingest.remote.address import Address
from orienteer.ingest.remote.objects import Objects


def objects_at(address: Address) -> Objects:
    """Return the files at an address; nothing is asked yet. Raises `MissingExtra`, `BadOption`."""
    if address.is_bucket:
        from orienteer.connect.bucket import Bucket

        return Bucket(address)
    from orienteer.ingest.remote.site import Site  # with a client for HTTP, which nothing else here needs

    return Site(address)

"""The files at an address, to be read."""

from __future__ import annotations

from orienteer.ingest.remote.address import Address
from orienteer.ingest.remote.bucket import Bucket
from orienteer.ingest.remote.objects import Objects
from orienteer.ingest.remote.site import Site


def objects_at(address: Address) -> Objects:
    """Return the files at an address; nothing is asked yet. Raises `MissingExtra`, `BadOption`."""
    return Bucket(address) if address.is_bucket else Site(address)

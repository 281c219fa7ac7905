"""The files of the page: a fixed list made at the start, so that no path of a request ever leads into a folder."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from mimetypes import guess_type
from pathlib import Path

from fastapi import APIRouter
from starlette.responses import FileResponse, Response

PAGE = Path(__file__).parents[1] / "page"
INDEX = "index.html"
_FOREVER = "public, max-age=31536000, immutable"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".woff2": "font/woff2"}
"""Said by us: what the system says of these differs from machine to machine."""


def page_files(folder: Path = PAGE) -> dict[str, Path]:
    """Return the files of a page by the paths of requests; links are left out."""
    assets = folder / "assets"
    files = {f"/{file.relative_to(folder).as_posix()}": file for file in sorted(assets.rglob("*"))}
    files["/"] = folder / INDEX
    return {path: file for path, file in files.items() if file.is_file() and not file.is_symlink()}


def page_routes(files: Mapping[str, Path]) -> APIRouter:
    """Return a route for each file. A browser keeps assets, whose names hold hashes, for ever, and never the page."""
    router = APIRouter(include_in_schema=False)
    for path, file in files.items():
        router.add_api_route(path, _sender(file, is_asset=path != "/"), methods=["GET"])
    return router


def _sender(file: Path, *, is_asset: bool) -> Callable[[], Awaitable[Response]]:
    media_type = _TYPES.get(file.suffix) or guess_type(file.name)[0] or "application/octet-stream"
    headers = {"cache-control": _FOREVER if is_asset else "no-store"}

    async def send() -> Response:
        return FileResponse(file, media_type=media_type, headers=headers)

    return send

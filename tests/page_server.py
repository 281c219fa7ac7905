"""The page and what it asks for, over a real graph and the real views, by the standard library alone.

The server of the product is `orienteer serve`; this one needs no extra, answers at any pace, and gives the same JSON.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orienteer.serve
from orienteer.errors import Error, UnknownNode
from orienteer.graph.store import Graph
from orienteer.protocols import LanguageModel
from orienteer.retriever import Retriever
from orienteer.serve.views import graph_info, pages, subgraph
from orienteer.serve.views.outside import for_outside

PAGE = Path(orienteer.serve.__file__).parent / "page"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".txt": "text/plain"}


class PageServer(ThreadingHTTPServer):
    """Serves graphs by name; `seconds` pass before each step of a model is told, and a `key` that is set opens it."""

    daemon_threads = True

    def __init__(
        self, graphs: Mapping[str, Graph], *, model: LanguageModel | None = None, seconds: float = 0.0, key: str = ""
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Requests)
        self.graphs, self.model, self.seconds, self.key = graphs, model, seconds, key
        self.feedback: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.left = threading.Event()
        """Set once somebody has left before the end of a question."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def served(graphs: Mapping[str, Graph], **options: Any) -> Iterator[PageServer]:
    """Yield a server that runs until the block ends."""
    with PageServer(graphs, **options) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Requests(BaseHTTPRequestHandler):
    server: PageServer

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        if not address.path.startswith("/api/"):
            self._send_file(address.path)
        elif self._is_let_in():
            self._answer(lambda: self._looked_up(address.path.removeprefix("/api/"), query))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not self._is_let_in():
            return
        if self.path == "/api/ask":
            self._stream(body)
        else:
            self._answer(lambda: self._posted(self.path.removeprefix("/api/"), body))

    # ------------------------------------------------------------------------------------------------------- replies

    def _is_let_in(self) -> bool:
        if not self.server.key or self.headers.get("authorization") == f"Bearer {self.server.key}":
            return True
        self._send_error(401, "a key is needed: send authorization: Bearer KEY")
        return False

    def _answer(self, look_up: Any) -> None:
        try:
            record = look_up()
        except Error as error:
            self._send_error(404 if isinstance(error, UnknownNode) else 400, str(error))
            return
        self._send(200, "application/json", record if isinstance(record, bytes) else _json(record))

    def _send_error(self, status: int, message: str) -> None:
        error = {"error": {"message": message, "status": status, "value": None}}
        self._send(status, "application/json", json.dumps(error).encode())

    def _send_file(self, path: str) -> None:
        files = {f"/{file.relative_to(PAGE).as_posix()}": file for file in PAGE.rglob("*") if file.is_file()}
        file = {**files, "/": PAGE / "index.html"}.get(path)
        if file is None:
            self._send_error(404, f"nothing is at {path!r}")
        else:
            self._send(200, f"{_TYPES[file.suffix]}; charset=utf-8", file.read_bytes())

    def _send(self, status: int, media_type: str, content: bytes) -> None:
        self._begin(status, media_type, {"content-length": str(len(content))})
        self.wfile.write(content)

    def _begin(self, status: int, media_type: str, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        policies = {"content-security-policy": POLICY, "x-content-type-options": "nosniff"}
        for name, value in {"content-type": media_type, **policies, **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    # ------------------------------------------------------------------------------------------------------- look-ups

    def _graph(self, values: Mapping[str, Any]) -> Graph:
        return self.server.graphs[values["graph"]]

    def _looked_up(self, name: str, query: Mapping[str, str]) -> Any:
        if name == "graphs":
            return self._listed()
        graph = self._graph(query)
        match name:
            case "schema":
                return pages.schema(graph)
            case "info":
                return graph_info.info(graph)
            case "node":
                return pages.node(graph, query["id"])
        return self._document(graph, query["id"])

    def _listed(self) -> bytes:
        model = self.server.model
        graphs = [
            {"name": name, "is_ready": True, "stage": None, "done": None, "of": None, "generation": graph.generation}
            | {"nodes": sum(graph.schema.node_types.values()), "edges": sum(graph.schema.edge_types.values())}
            | {"node_types": dict(graph.schema.node_types), "edge_types": graph.schema.edge_types}
            | {"labels": dict(graph.schema.labels)}
            for name, graph in self.server.graphs.items()
        ]
        listed = {"graphs": graphs, "model": None if model is None else model.name, "has_feedback": True}
        return json.dumps({**listed, "methods": ["auto", "anchor", "bm25", "ark", "documents"]}).encode()

    def _document(self, graph: Graph, node_id: str) -> bytes:
        """Return a passage as the only part of its document: the product's view has those around it, too."""
        node = pages.node(graph, node_id)
        source = None if node.source is None else node.source.model_dump(mode="json")
        part = {"id": node.id, "type": node.type, "name": node.name, "text": node.text, "source": source}
        about = {
            "id": node.id,
            "name": node.name,
            "file": (source or {}).get("file"),
            "total": 1,
            "offset": 0,
            "place": 0,
        }
        return json.dumps({**about, "parts": [part]}).encode()

    def _posted(self, name: str, body: dict[str, Any]) -> Any:
        graph = self._graph(body)
        values = {key: value for key, value in body.items() if key != "graph"}
        match name:
            case "subgraph":
                return subgraph.subgraph(graph, **values)
            case "facets":
                return subgraph.facets(graph, **values)
            case "neighbors":
                return pages.neighbors(graph, **values)
            case "list":
                return pages.list_nodes(graph, **values)
        self.server.feedback.append(body)
        return b'{"kept": true}'

    # ------------------------------------------------------------------------------------------------------ questions

    def _stream(self, body: dict[str, Any]) -> None:
        self.server.asked.append(body)
        method, graph = body.get("method", "auto"), self._graph(body)
        values = {key: body[key] for key in ("k", "node_types", "where", "reading") if key in body}
        try:
            stream = Retriever(graph, method, model=self.server.model).stream(body["question"], **values)
        except Error as error:
            self._send_error(400, str(error))
            return
        self._begin(200, "text/event-stream", {})
        with stream:
            try:
                for event in stream:
                    if event.kind in ("step", "observation"):
                        time.sleep(self.server.seconds)
                    self._tell(event.kind, for_outside(event, (graph.path,)).wire())
            except OSError:
                self.server.left.set()
            except Error as error:
                self._tell("error", json.dumps({"error": {"message": str(error), "status": 502, "value": None}}))

    def _tell(self, kind: str, text: str) -> None:
        self.wfile.write(f"event: {kind}\ndata: {text}\n\n".encode())
        self.wfile.flush()


def _json(record: Any) -> bytes:
    content: bytes = for_outside(record, ()).model_dump_json().encode()
    return content

"""A model that is a function of the request, behind HTTP on loopback: for benchmarks of all that is around a model."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextlib.contextmanager
def served(
    answer: Callable[[dict[str, Any]], str | Mapping[str, Any]],  # Any: JSON
    host: str = "127.0.0.1",
) -> Iterator[str]:
    """Give the address of a model that answers a request with this text, or with this call of a tool.

    A call is `{"name": ..., "arguments": {...}}`.
    """

    class Server(ThreadingHTTPServer):
        request_queue_size = 256
        daemon_threads = True

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else a reply in two writes takes 40 ms more

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            said = answer(body)
            message: dict[str, Any] = {"role": "assistant", "content": said}
            if not isinstance(said, str):
                function = {"name": said["name"], "arguments": json.dumps(said["arguments"])}
                call = {"id": f"c{len(body['messages'])}", "type": "function", "function": function}
                message = {"role": "assistant", "content": None, "tool_calls": [call]}
            usage = {"prompt_tokens": len(json.dumps(body)) // 4, "completion_tokens": len(json.dumps(said)) // 4}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            data = json.dumps({"model": body["model"], "choices": [choice], "usage": usage}).encode()
            with contextlib.suppress(OSError):  # who asked has left
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

    server = Server((host, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

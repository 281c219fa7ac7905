"""Stores for graphs at an address: a real S3 server, a server of files, and a slow wire in front of either."""

import contextlib
import http.server
import json
import re
import shutil
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib
from functools import partial

KEYS = {"AWS_ACCESS_KEY_ID": "orienteer-test", "AWS_SECRET_ACCESS_KEY": "orienteer-secret", "AWS_REGION": "us-east-1"}
"""Of the S3 server of the tests."""


def free_ports(count):
    """Return ports that nothing listens at; the server's own ports for its parts are 10,000 above."""
    found = []
    while len(found) < count:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1] % 20_000 + 20_000
        with socket.socket() as one, socket.socket() as above, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            above.bind(("127.0.0.1", port + 10_000))
            if port not in found:
                found.append(port)
    return found


@contextlib.contextmanager
def seaweed(folder):
    """Run the S3 server SeaweedFS with one user, and give its address."""
    identity = {
        "name": "test",
        "credentials": [{"accessKey": KEYS["AWS_ACCESS_KEY_ID"], "secretKey": KEYS["AWS_SECRET_ACCESS_KEY"]}],
        "actions": ["Admin", "Read", "Write", "List"],
    }
    (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
    (folder / "data").mkdir()
    master, volume, filer, s3 = free_ports(4)
    ports = [f"-master.port={master}", f"-volume.port={volume}", f"-filer.port={filer}", f"-s3.port={s3}"]
    rest = ["-s3", "-s3.port.iceberg=0", "-s3.port.lance=0", "-volume.max=20", "-master.volumeSizeLimitMB=64"]
    words = [shutil.which("weed"), "-logtostderr", "server", "-dir=data", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([*words, *ports, *rest, "-s3.config=s3.json"], cwd=folder, stdout=log, stderr=log)
    try:
        _wait_for(f"http://127.0.0.1:{s3}", process)
        yield f"http://127.0.0.1:{s3}"
    finally:
        process.kill()
        process.wait()


def _wait_for(url, process):
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except urllib.error.HTTPError:
            time.sleep(0.5)  # it listens; its parts find one another
            return
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("SeaweedFS did not start")


class FileServer:
    """A server of the files of a folder, as any: with ETags, and what was asked of it."""

    def __init__(self, folder, *, has_tags=True):
        self.folder, self.has_tags, self.requests = folder, has_tags, []
        self.instead = {}
        """Bytes that a file is given out as, by the end of its path, with the length that is claimed."""
        self.behaving = {}
        """Functions that answer in place of the server, by the end of the path, each called with the handler."""
        handler = partial(_Files, owner=self, directory=str(folder))
        self._server = _Server(("127.0.0.1", 0), handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def asked(self):
        """Return what was asked since the last time."""
        asked, self.requests = self.requests, []
        return asked

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *words):
        """Say nothing of clients that have left."""


class _Files(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, *words, owner, **options):
        self.owner = owner
        super().__init__(*words, **options)

    def do_GET(self):
        self.owner.requests.append(self.path)
        if answer := next((each for end, each in self.owner.behaving.items() if self.path.endswith(end)), None):
            with contextlib.suppress(ConnectionError):
                answer(self)
            self.close_connection = True
            return
        path = self.owner.folder / self.path.lstrip("/")
        instead = next((given for end, given in self.owner.instead.items() if self.path.endswith(end)), None)
        if instead is None and not path.is_file():
            self.send_error(404)
            return
        content, length = instead or (path.read_bytes(), path.stat().st_size)
        tag = f'"{hash(content):x}"'
        if self.owner.has_tags and self.headers.get("If-None-Match") == tag:
            self.send_response(304)
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Length", str(length))
        if self.owner.has_tags:
            self.send_header("ETag", tag)
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(content)
        self.close_connection = len(content) != length

    def log_message(self, *words):
        """Say nothing."""


class Wire:
    """A wire to a server: it counts requests, can be slow, and can be cut."""

    def __init__(self, port, *, bytes_a_second=None):
        self._port, self._pace, self.is_cut, self.requests = port, bytes_a_second, False, 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def close(self):
        self._listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                if self.is_cut:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self._port))
                threading.Thread(target=self._carry, args=(near, far, True), daemon=True).start()
                threading.Thread(target=self._carry, args=(far, near, False), daemon=True).start()

    def _carry(self, source, target, counts):
        with source, target, contextlib.suppress(OSError):
            while (part := source.recv(1 << 14)) and not self.is_cut:
                if counts:
                    self.requests += part.count(b" HTTP/1.1\r\n")
                if self._pace is not None:
                    time.sleep(len(part) / self._pace)
                target.sendall(part)
            with contextlib.suppress(OSError):
                target.shutdown(socket.SHUT_WR)


class PlainStore:
    """An S3 server that knows no conditions and cannot copy, as some do not; it keeps files in memory."""

    def __init__(self):
        self.files = {}
        self.age = 0
        """Seconds since its files came, as it says."""
        handler = partial(_Plain, owner=self)
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class _Plain(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, *words, owner):
        self.owner = owner
        super().__init__(*words)

    def do_PUT(self):
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if any(map(self.headers.get, ("If-Match", "If-None-Match", "x-amz-copy-source"))):
            self._reply(501, b"<Error><Code>NotImplemented</Code></Error>")
            return
        self.owner.files[self.path] = content
        self._reply(200, b"", tag=content)

    def do_POST(self):
        asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
        names = re.findall("<Key>(.*?)</Key>", asked)
        for name in names:
            self.owner.files.pop(f"/graphs/{name}", None)
        gone = "".join(f"<Deleted><Key>{name}</Key></Deleted>" for name in names)
        self._reply(200, f"<DeleteResult>{gone}</DeleteResult>".encode())

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if "list-type=2" in query:
            prefix = urllib.parse.parse_qs(query).get("prefix", [""])[0]
            found = [name for name in self.owner.files if name.removeprefix("/graphs/").startswith(prefix)]
            came = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() - self.owner.age))
            entries = "".join(
                f"<Contents><Key>{name.removeprefix('/graphs/')}</Key><Size>{len(self.owner.files[name])}</Size>"
                f"<LastModified>{came}</LastModified></Contents>"
                for name in found
            )
            self._reply(200, f"<ListBucketResult><IsTruncated>false</IsTruncated>{entries}</ListBucketResult>".encode())
        elif path in self.owner.files:
            self._reply(200, self.owner.files[path], tag=self.owner.files[path])
        else:
            self._reply(404, b"<Error><Code>NoSuchKey</Code></Error>")

    def _reply(self, status, content, *, tag=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Last-Modified", "Fri, 27 Nov 2026 00:00:00 GMT")
        if tag is not None:
            self.send_header("ETag", f'"{zlib.crc32(tag):x}"')
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *words):
        """Say nothing."""

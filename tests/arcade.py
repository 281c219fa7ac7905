"""ArcadeDB as its own process, on loopback and free ports: a real server that speaks Bolt, where its package is."""

import base64
import importlib.util
import json
import secrets
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest

from orienteer.records import Edge, Node

DATABASE = "films"
START_SECONDS = 60
READER = {
    "resultSetLimit": -1,
    "readTimeout": -1,
    "access": [],
    "types": {"*": {"access": ["readRecord"]}},
}
"""What a user may do who only reads."""


def require_arcade():
    """Skip where the server's or the driver's package is not installed."""
    for package in ("arcadedb_embedded", "neo4j"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"needs the package {package}")


class Arcade:
    """One server with an empty database."""

    def __init__(self, folder: Path) -> None:
        self.password, self.reader = secrets.token_hex(12), secrets.token_hex(12)
        self.folder = folder
        self.bolt_port, self.http_port = _free_port(), _free_port()
        self.address = f"bolt://127.0.0.1:{self.bolt_port}/{DATABASE}"
        self.start()

    def start(self, *, seconds: float = 0) -> None:
        """Start it again. `seconds` is how long a statement may take, 0 for ever."""
        self._log = (self.folder / "output").open("ab")
        self._process = subprocess.Popen(self._command(seconds), cwd=self.folder, stdout=self._log, stderr=self._log)
        for _ in range(START_SECONDS * 10):
            with suppress(OSError):
                if self._get("ready"):
                    return
            if self._process.poll() is not None:
                break
            time.sleep(0.1)
        self.kill()
        raise AssertionError((self.folder / "output").read_text()[-2000:])

    def kill(self) -> None:
        """End it at once, as a machine that fails does."""
        self._process.kill()
        self._process.wait()
        self._log.close()

    def environment(self, *, user: str = "root") -> dict[str, str]:
        """Return what tells Orienteer who asks."""
        return {"NEO4J_USERNAME": user, "NEO4J_PASSWORD": self.password if user == "root" else self.reader}

    def add_reader(self) -> None:
        """Make a user who only reads, of a group that the server reads when it starts."""
        self.kill()
        path = self.folder / "config" / "server-groups.json"
        groups = json.loads(path.read_text())
        groups["databases"]["*"]["groups"]["reader"] = READER
        path.write_text(json.dumps(groups))
        self.start()
        user = {"name": "reader", "password": self.reader, "databases": {DATABASE: ["reader"]}}
        self._post("server", {"command": f"create user {json.dumps(user)}"})

    def sql(self, command: str) -> None:
        self._post(f"command/{DATABASE}", {"language": "sql", "command": command})

    def cypher(self, statement: str, **parameters: object) -> list[list[object]]:
        import neo4j

        server = f"bolt://127.0.0.1:{self.bolt_port}"
        with neo4j.GraphDatabase.driver(server, auth=("root", self.password)) as driver:
            records = driver.execute_query(statement, parameters, database_=DATABASE).records
        return [record.values() for record in records]

    def load(self, nodes: Iterable[Node], edges: Iterable[Edge]) -> None:
        """Load a graph of ours: types are labels, beside the label Entity of all, over which there are two indexes."""
        self.sql("CREATE VERTEX TYPE Entity IF NOT EXISTS")
        for name in ("id", "name", "text"):
            self.sql(f"CREATE PROPERTY Entity.{name} IF NOT EXISTS STRING")
        self.sql("CREATE INDEX IF NOT EXISTS ON Entity (id) UNIQUE")
        rows: dict[str, list[dict[str, object]]] = {}
        for node in nodes:
            said = {"text": node.text, "aliases": list(node.aliases), **node.properties}
            own = {"id": node.id, "name": node.name, **{name: value for name, value in said.items() if value}}
            rows.setdefault(node.type, []).append(own)
        for node_type, own in rows.items():
            self.cypher(f"UNWIND $rows AS row CREATE (n:Entity:`{node_type}`) SET n += row", rows=own)
        ends: dict[str, list[list[object]]] = {}
        for edge in edges:
            ends.setdefault(edge.type, []).append([edge.source, edge.target, dict(edge.properties)])
        for edge_type, pairs in ends.items():
            self.cypher(
                "UNWIND $rows AS row MATCH (a:Entity {id: row[0]}), (b:Entity {id: row[1]}) "
                f"CREATE (a)-[r:`{edge_type}`]->(b) SET r += row[2]",
                rows=pairs,
            )
        self.sql("CREATE INDEX IF NOT EXISTS ON Entity (name, text) FULL_TEXT")

    def _get(self, path: str) -> bool:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http_port}/api/v1/{path}", timeout=5) as reply:
            return bool(reply.status == 204)

    def _post(self, path: str, body: dict[str, str]) -> None:
        key = base64.b64encode(f"root:{self.password}".encode()).decode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.http_port}/api/v1/{path}",
            data=json.dumps(body).encode(),
            headers={"Authorization": f"Basic {key}", "Content-Type": "application/json"},
        )
        urllib.request.urlopen(request, timeout=60).close()

    def _command(self, seconds: float) -> list[str]:
        spec = importlib.util.find_spec("arcadedb_embedded")
        home = Path(spec.submodule_search_locations[0])
        settings = {
            "server.rootPath": self.folder,
            "server.databaseDirectory": self.folder / "databases",
            "server.rootPassword": self.password,
            "server.httpIncomingHost": "127.0.0.1",
            "server.httpIncomingPort": self.http_port,
            "server.mode": "development",
            "command.timeout": int(seconds * 1000),
            "opencypher.loadCsv.allowFileUrls": "false",
            "opencypher.loadCsv.allowRemoteUrls": "false",
            "server.plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
            "bolt.host": "127.0.0.1",
            "bolt.port": self.bolt_port,
            "server.defaultDatabases": f"{DATABASE}[root]",
        }
        return [
            str(home / "jre" / "bin" / "java"),
            "-Xmx1g",
            *("--add-modules", "jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"),
            *("--add-exports", "java.management/sun.management=ALL-UNNAMED"),
            *("--add-opens", "java.base/java.util.concurrent.atomic=ALL-UNNAMED"),
            *("--add-opens", "java.base/java.nio.channels.spi=ALL-UNNAMED"),
            *("-cp", str(home / "jars" / "*")),
            *(f"-Darcadedb.{name}={value}" for name, value in settings.items()),
            "com.arcadedb.server.ArcadeDBServer",
        ]


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])

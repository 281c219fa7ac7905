"""The command that puts a graph at an address: push."""

from __future__ import annotations

from typing import Annotated

import typer

from orienteer.display import counted
from orienteer.errors import BadOption
from orienteer.serve.cli.arguments import Directory, graph_of
from orienteer.serve.cli.output import Output


def push(
    out: Output,
    directory: Directory,
    to: Annotated[str, typer.Argument(metavar="ADDRESS", help="Where to put it: s3://BUCKET/NAME.")],
) -> None:
    """Put a graph in a bucket, where any command and any server reads it: what is there already is not sent."""
    from orienteer.ingest.remote.address import address_of
    from orienteer.ingest.remote.push import push_graph

    if (address := address_of(to)) is None:
        raise BadOption(f"{to} is no address: push to s3://BUCKET/NAME")
    report = push_graph(graph_of(directory, out), address, tell=out.progress)
    if out.as_json:
        out.json(report)
    elif not (report.is_new or report.sent):
        out.print(f"{address} has generation {report.generation} already")
    else:
        copied = f", {counted(report.copied, 'file')} copied there" if report.copied else ""
        sent = f"{counted(report.sent, 'file')} sent, {counted(report.sent_bytes, 'byte')}"
        out.print(f"{address} is at generation {report.generation}: {sent} in {report.seconds:.1f} s{copied}")


COMMANDS = {"push": (push, "push hetionet s3://graphs/hetionet")}

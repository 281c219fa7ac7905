"""How a small model in a file calls tools: natively, in words, and held to a schema; its first turn alone.

    python benchmarks/local_model.py [--model local:smollm2] [--questions FILE] [--way WAY ...]

Over the demo graph and the twelve questions of the tests, with ARK's prompt and four tools. A call is valid where the
tool is there and its arguments are of its schema.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from orienteer.agents.dialect import DIALECTS
from orienteer.display import counted
from orienteer.graph.store import Graph
from orienteer.ingest.demo import demo_records
from orienteer.llm.local import LocalModel, threads
from orienteer.llm.openai import OpenAIModel
from orienteer.llm.schema import decode, faults
from orienteer.methods.ark import Ark, ArkConfig
from orienteer.records import Dialect, JsonValue, Message, Question, Sampling, ToolSpec, Usage
from report import command_line

QUESTIONS = Path(__file__).parents[1] / "tests" / "toy" / "questions.jsonl"
WAYS: Mapping[str, Dialect] = {"native": "native", "words": "qwen", "schema": "schema"}
LONGEST = Sampling(temperature=0.0, max_tokens=96)
"""A call takes some 40 tokens."""


def main() -> None:
    """Print a line for each way."""
    parser = command_line(__doc__, ())
    parser.add_argument("--model", default="local:smollm2")
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--way", choices=WAYS, action="append")
    options = parser.parse_args()
    texts = [json.loads(line)["question"] for line in options.questions.read_text(encoding="utf-8").splitlines()]
    model = LocalModel(options.model)
    print(f"{options.model}, {counted(len(texts), 'question')}, {counted(threads(), 'thread')}")
    with tempfile.TemporaryDirectory() as folder:
        nodes, edges = demo_records()
        graph = Graph.from_records(nodes, edges, path=Path(folder) / "graph")
        for way in options.way or WAYS:
            print(line_of(way, model.served(), graph, texts))
    model.close()


def line_of(way: str, served: OpenAIModel, graph: Graph, texts: list[str]) -> str:
    """Ask every question in one way; return how many first calls were valid, of which tools, and what they took."""
    mode = "tools" if way == "native" else "auto"
    model = OpenAIModel(served.name, served.config.model_copy(update={"mode": mode}))
    valid, cut, verbatim, called, spent = 0, 0, 0, Counter[str](), Usage()
    began = time.perf_counter()
    for text in texts:
        begun = Ark(graph, model, ArkConfig(tools="paper")).begin_agent(Question(text=text), 0, random_seed=0)
        sent = DIALECTS[WAYS[way]].written(begun.opening, begun.tools, begun.tools)
        reply = model.chat(sent.messages, tools=sent.tools, schema=sent.schema, sampling=LONGEST)
        spent += reply.usage
        cut += reply.truncated
        call = first_valid(DIALECTS[WAYS[way]].read(reply.message, turn=0).message, begun.tools)
        if call is not None:
            valid += 1
            called[call[0]] += 1
            verbatim += text in map(str, call[1].values())
    model.close()
    tools = ", ".join(f"{name} {number}" for name, number in called.most_common()) or "none"
    took = f"{(time.perf_counter() - began) / len(texts):.1f} s and {spent.tokens / len(texts):.0f} tokens a question"
    what = f"{valid} of {len(texts)} calls valid, {cut} replies cut"
    return f"{way}: {what} ({tools}; {verbatim} with the question as it is); {took}"


def first_valid(message: Message, tools: tuple[ToolSpec, ...]) -> tuple[str, Mapping[str, JsonValue]] | None:
    """Return the name and arguments of the first call that is valid, None where none is."""
    schemas = {tool.name: tool.parameters for tool in tools}
    for call in message.tool_calls:
        try:
            arguments = decode(call.arguments)
        except ValueError:
            continue
        if call.name in schemas and isinstance(arguments, dict) and not faults(arguments, schemas[call.name]):
            return call.name, arguments
    return None


if __name__ == "__main__":
    main()

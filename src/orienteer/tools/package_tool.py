"""The tools of installed packages: opened by their names, and named with their package where they fail."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager

from orienteer.errors import BadOption, Error, ToolFailed
from orienteer.plugins import fault, load, refused, registered
from orienteer.protocols import Closing, Tool
from orienteer.records import JsonValue, Observation, Step, ToolSpec
from orienteer.tools.session import Session

logger = logging.getLogger(__name__)


def package_tool(name: str, session: Session, taken: Collection[str]) -> Tool:
    """Return the tool that an installed package registers under this name. Raises `BadOption`."""
    make = load("tools", name, taken)
    if make is None:
        names = ", ".join(registered("tools", taken)) or "none"
        raise BadOption(f"no installed package has a tool {name!r}: there are {names}")
    try:
        tool: Tool | None = make(session) if callable(make) else None
    except Error:
        raise
    except Exception as error:  # somebody's code may fail in any way, and is named
        raise refused("tools", name, f"making it fails ({type(error).__name__}: {error})") from error
    if not isinstance(getattr(tool, "spec", None), ToolSpec) or not callable(tool):
        raise refused("tools", name, "what it names makes no tool of a Session: a tool has a `spec` and is called")
    if tool.spec.name != name:
        raise refused("tools", name, f"the tool calls itself {tool.spec.name!r}")
    return PackageTool(tool)


class PackageTool:
    """A tool of an installed package. A bug in it raises `ToolFailed`, which names the tool and the package."""

    def __init__(self, tool: Tool) -> None:
        self._tool, self.spec = tool, tool.spec

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Run the tool. Raises what it raises of our errors, else `ToolFailed`."""
        with self._bugs_named():
            observation = self._tool(arguments)
        if not isinstance(observation, Observation):
            what = f"it returned a {type(observation).__name__} where an Observation is due"
            raise ToolFailed(fault("tools", self.spec.name, what))
        return observation

    def close(self) -> None:
        """Close the tool, if it has something to close. Raises as a call does."""
        if isinstance(self._tool, Closing):
            with self._bugs_named():
                self._tool.close()

    @contextmanager
    def _bugs_named(self) -> Iterator[None]:
        try:
            yield
        except Error:
            raise
        except Exception as error:  # somebody's code may fail in any way, and is named
            what = f"it failed ({type(error).__name__}: {error})"
            logger.debug("the tool %s failed", self.spec.name, exc_info=True)
            raise ToolFailed(fault("tools", self.spec.name, what)) from error


def failure_notes(steps: Iterable[Step]) -> list[str]:
    """Return a note for each tool of a package that failed in some steps, as the model was told."""
    observations = (observation for step in steps for observation in step.observations)
    return [seen.text.partition("\n")[0] for seen in observations if seen.error == ToolFailed.__name__]

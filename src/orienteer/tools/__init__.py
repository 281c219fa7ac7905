"""What an agent may call: data (name, JSON schema) and a function each, over one session."""

from orienteer.tools.session import Session
from orienteer.tools.toolbox import Toolbox

__all__ = ["Session", "Toolbox"]

"""The options of `documents`."""

from __future__ import annotations

from pydantic import Field

from orienteer.options import Options


class DocumentsConfig(Options):
    """What is done with the passages that are found."""

    quotes: bool = True
    """Answer with the sentence or row that fits best, where no model answers."""
    abstains: bool = True
    """Say that nothing answers a question where too little of it stands in any passage."""
    phrases: bool = True
    """Prefer passages that have words of the question side by side, or in their title, a little."""
    folds: bool = True
    """Tell passages that nearly repeat another beneath it, and put contents pages last."""
    listed: int = Field(default=20, ge=1)
    """Documents that an answer names, where a question asks which of them speak of something."""

"""How one build makes a graph: the options of a person, completed by those of the graph before and by defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orienteer.errors import BadOption
from orienteer.ingest.documents.config import BuildConfig, Chunking
from orienteer.ingest.documents.previous import Previous
from orienteer.ingest.documents.read.selection import ALL, Selection
from orienteer.ingest.extraction.by_model import Form

if TYPE_CHECKING:
    from orienteer.protocols import Embedder, LanguageModel

NO_EMBEDDER = "without an embedder no vectors join chunks that are alike; --embedder minilm joins them"
NO_STATEMENTS = (
    "without a model --extract finds no statements: its facts are the words between two names, or whole sentences"
)


@dataclass(frozen=True, slots=True)
class BuildRecipe:
    """The settled options of one build."""

    chunking: Chunking
    extract: Form | None
    """What is extracted from the chunks; None for nothing."""
    is_described: bool
    """Whether a model writes metadata about each chunk."""
    config: BuildConfig
    selection: Selection
    """Which files of the sources are meant."""
    models: Mapping[str, str]
    """The names of the models that take part, by their part."""
    notes: tuple[str, ...]
    """What a person should know of it."""

    @property
    def options(self) -> dict[str, Any]:  # Any: JSON
        """The options that shape the graph, as its provenance has them."""
        extract = {} if self.extract is None else {"extract": self.extract}
        chosen = self.selection.model_dump(mode="json", exclude_defaults=True)
        return {"chunks": self.chunking, **extract, **self.models, **chosen, **self.config.changed()}


def settle(
    chunks: Chunking | None,
    extract: Form | None,
    config: BuildConfig | None,
    selection: Selection,
    *,
    has_metadata: bool,
    previous: Previous | None,
    embedder: Embedder | None,
    model: LanguageModel | None,
) -> BuildRecipe:
    """Return the recipe of a build; an update goes by the options of its graph where a person says nothing.

    `has_metadata` asks for metadata also where a model extracts. Raises `BadOption` if options contradict one
    another, the means, or those of the graph that is updated.
    """
    if previous is not None:
        chunks, extract, config = chunks or previous.chunking, extract or previous.extract, config or previous.config
        selection = selection if selection != ALL else previous.selection
    notes = (*[NO_EMBEDDER] * (embedder is None), *[NO_STATEMENTS] * (extract is not None and model is None))
    is_faithful = config is not None and config.faithful and embedder is not None
    chunks = chunks or ("semantic" if is_faithful and extract is None else "tokens")
    if config is None:
        config = BuildConfig.extracting() if extract is not None and chunks == "tokens" else BuildConfig()
    is_described = model is not None and (extract is None or has_metadata)
    parts = {
        "model": model if is_described else None,
        "extracting_model": model if extract is not None else None,
        "embedder": embedder,
    }
    models = {part: taker.name for part, taker in parts.items() if taker is not None}
    recipe = BuildRecipe(chunks, extract, is_described, config, selection, models, notes)
    if previous is not None:
        previous.check(recipe.options)
    _check(recipe, has_model=model is not None, has_embedder=embedder is not None)
    return recipe


def _check(recipe: BuildRecipe, *, has_model: bool, has_embedder: bool) -> None:
    """Raise `BadOption` if the options contradict one another or what there is to work with."""
    config, is_semantic = recipe.config, recipe.chunking == "semantic"
    if is_semantic and not has_embedder:
        raise BadOption(
            "--chunks semantic cuts by an embedder, and --embedder none names none: name one (--embedder minilm), "
            "or cut by tokens (--chunks tokens)"
        )
    if config.faithful and not has_embedder:
        raise BadOption("faithful is the paper's recipe, which takes an embedder: name one (--embedder minilm)")
    config.check_use(recipe.extract, has_model=has_model, has_embedder=has_embedder)
    if config.overlap and is_semantic:
        raise BadOption("overlap is of chunks cut by tokens: leave it out, or cut by tokens (--chunks tokens)")

"""The options of a build."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from orienteer.errors import BadOption
from orienteer.graph.names import NAME_SHARE
from orienteer.options import Options

Chunking = Literal["semantic", "tokens"]
SIMILARITIES = ("topic", "content", "title", "column", "entities")
"""What two chunks may be alike in. SAGE, section 2.1.B."""

EXTRACTING = {"tokens": 400, "overlap": 50}
"""GraphSearch (002), section 4.1, for its chunks; the overlap is that of its public code."""


class BuildConfig(Options):
    """How documents are cut and what joins the pieces."""

    tokens: int = Field(default=180, ge=16)
    """Most tokens of a chunk: words, parts of long words, marks. With its title about what MiniLM reads of a text, 256
    word pieces; 400 with --extract."""
    overlap: int = Field(default=0, ge=0)
    """Tokens, in whole sentences, that a chunk cut by tokens repeats of the one before it. With --extract it is 50."""
    percentile: float = Field(default=20.0, gt=0, lt=100)
    """Semantic chunking cuts where adjacent windows are no more alike than this percentile. SAGE, section 2.1.A."""
    least_sentences: int = Field(default=3, ge=1)
    """A semantic chunk of fewer joins the neighbour that it is more like. SAGE's code; the paper does not say so, but
    its count of chunks is near only with it."""
    segment_rows: int = Field(default=10, ge=1)
    """Rows of a table segment at the most; fewer where they come to more than `tokens`. SAGE, section 2.1.A, has 5 to
    10."""
    least_rows: int = Field(default=5, ge=1)
    """A last segment of fewer rows shares those of the one before."""
    cell_characters: int = Field(default=2000, ge=16)
    """A longer cell of a table is cut off here, and the report says so."""
    tables: Literal["auto", "rows", "segments"] = "auto"
    """A table file is a collection, a document a row, or a table in segments; auto tells by its columns."""
    lines: bool = False
    """A line of a plain text file is a document, a passage: a corpus of a passage a line."""
    names: bool = True
    """Join chunks by titles that stand in texts and cells, and by rare names that they share."""
    name_share: float = Field(default=NAME_SHARE, gt=0, le=1)
    """A name in more than this share of the chunks, and in more than 20, says nothing."""
    shared_most: int = Field(default=100, ge=1)
    """Chunks that a name may stand in to join them."""
    strongest: int = Field(default=30, ge=1)
    """Edges by shared names that a chunk gets at the most."""
    similar: bool = True
    """Join chunks whose topics, contents, titles or columns are alike, where there is an embedder. SAGE, 2.1.B."""
    similar_percentile: float = Field(default=95.0, gt=0, lt=100)
    """A similarity counts above this percentile of its candidates. SAGE, section 2.1.B."""
    similar_logic: Literal["or", "and"] = "or"
    """Whether one similarity above its percentile makes an edge, or all have to be. SAGE, table 5."""
    thresholds: tuple[str, ...] = ()
    """Fixed thresholds in place of percentiles, as in `content=0.8,topic=0.7`."""
    near: int = Field(default=50, ge=1)
    """Nearest neighbours a chunk has as candidates, for each similarity."""
    entity_types: tuple[str, ...] = ()
    """Types of entities that a model extracts; of any type where none is given."""
    gleanings: int = Field(default=0, ge=0, le=1)
    """Calls, 0 or 1, that ask a model for what it missed when it read a chunk. LightRAG and GraphRAG have 1."""
    phrases: bool = True
    """Extract phrases in lower case beside names, where there is no model."""
    co_occurring: int = Field(default=30, ge=1)
    """Edges to names that stand beside it, the strongest of each name, where there is no model."""
    synonyms: bool = False
    """Join entities whose names mean nearly the same, where there is an embedder: it embeds every name."""
    vectors: tuple[str, ...] = ()
    """Node types that get vectors; all where none is given. Facts are many."""
    faithful: bool = False
    """The paper's recipe and nothing else: no edges of names, cuts by meaning alone, documents not told apart."""
    largest_mb: int = Field(default=100, ge=1)
    """A larger file, unpacked where it is packed, is left out."""
    most_rows: int = Field(default=2_000_000, ge=1)
    """A table of more rows is left out."""
    seconds: float = Field(default=120.0, gt=0)
    """Processor time that the pages of one PDF may take; further ones are left out, and a note says so."""

    @model_validator(mode="after")
    def _check_across(self) -> Self:
        if self.overlap > self.tokens // 2:
            raise BadOption(f"overlap is {self.overlap}: it must be 0 to {self.tokens // 2}, half of tokens")
        self.fixed_thresholds()
        return self

    @classmethod
    def extracting(cls, **options: Any) -> BuildConfig:  # Any: what a field holds
        """Return the options of a build that extracts: chunks of 400 tokens, 50 of them those of the one before.

        GraphSearch (002), section 4.1.
        """
        return cls(**{**EXTRACTING, **options})

    @property
    def has_names(self) -> bool:
        """Return whether names join chunks: the paper has no such edges."""
        return self.names and not self.faithful

    def check_use(self, form: str | None, *, has_model: bool, has_embedder: bool) -> None:
        """Raise `BadOption` where an option would say nothing, given the form of the extraction if there is one."""
        if (self.entity_types or self.gleanings) and (form is None or not has_model):
            raise BadOption("entity_types and gleanings need a model that extracts: give --extract and --model")
        if self.synonyms and (form is None or not has_embedder):
            raise BadOption("synonyms join what is extracted, by an embedder: give --extract and --embedder")
        if self.vectors and not (has_embedder and self.similar):
            raise BadOption(
                "vectors are what an embedder gives: name one (--embedder), leave similar on, or vectors out"
            )

    def fixed_thresholds(self) -> dict[str, float]:
        """Return the thresholds that were given, by similarity. Raises `BadOption`."""
        settings = {}
        for text in self.thresholds:
            name, equals, value = text.partition("=")
            if name not in SIMILARITIES or not equals:
                raise BadOption(f"thresholds: {text!r} is none; write SIMILARITY=NUMBER, of {', '.join(SIMILARITIES)}")
            try:
                settings[name] = float(value)
            except ValueError:
                raise BadOption(f"thresholds: {value!r} is no number, in {text!r}") from None
        return settings

    def changed(self) -> dict[str, Any]:  # Any: what a field holds
        """Return the options that differ from the defaults, as JSON."""
        return self.model_dump(mode="json", exclude_defaults=True)

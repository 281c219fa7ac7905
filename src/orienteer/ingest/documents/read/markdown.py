"""Markdown (CommonMark, with GitHub's extensions) and plain text as blocks. Spans are positions in the source text.

Markdown is written as HTML, whose reader makes the blocks: so that HTML within it is read as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.common.html_blocks import block_names
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import escapedSplit, getLine, table
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.tasklists import tasklists_plugin

from orienteer.errors import BadInput
from orienteer.ingest.documents.read.blocks import MOST_BLOCKS, Block, Blocks, Page, Place, Prose, Span
from orienteer.ingest.documents.read.markup import MARK, Markup
from orienteer.ingest.documents.read.webpage import page_of
from orienteer.records import JsonValue

_FRONT = re.compile(r"\A---[ \t]*\n(?=\s*+[\w-]+:)(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:(?!\s*+[>|])(.+)\n?", re.MULTILINE)
_FRONT_HEAD = re.compile(r"^([A-Za-z][\w-]*+):[ \t]*+(\[.*\]|[^\s>|\[{&*!].*)?((?:\n[ \t]*+- .*)*)$", re.MULTILINE)
"""A key with its value, or with a list in brackets or on the lines below."""
_REMARK = re.compile(r"(?:^| )#.*")
_HEADS = frozenset(["author", "authors", "date", "created", "modified", "updated", "status", "tags", "keywords"])
"""Keys whose values are metadata. Any other may be the name of a property of ours."""
_WIKI = re.compile(r"!?\[\[([^\[\]|#\n]*)(#[^\[\]|\n]*)?(?:\|([^\[\]\n]*))?\]\]")
_CODE = re.compile(r"(?<!`)(`++)(?!`)[^`\n]*+\1(?!`)")
_TIMES = re.compile(r"(?<=\d)\*(?=\d)")
_BAR = "\ue001"
"""A pipe in code, which does not separate cells."""
_NO_ANCHOR = re.compile(r"[^\w\- ]")
_TAG = re.compile(r"<(?:/?([a-zA-Z][^\s/>]*)|!--|)")
_PAIRED = frozenset(["script", "style", "title", "textarea", "xmp", "iframe", "noembed", "select", "svg", "math"])
"""Elements with content of their own syntax. They count as elements only if closed within one piece of HTML."""
_NAMES = frozenset(
    [
        *block_names,
        *("a", "abbr", "acronym", "audio", "b", "bdi", "bdo", "big", "br", "button", "canvas", "cite", "code", "data"),
        *("del", "dfn", "em", "embed", "font", "i", "img", "input", "ins", "kbd", "label", "map", "mark", "meter"),
        *("nobr", "object", "output", "picture", "pre", "progress", "q", "rp", "rt", "ruby", "s", "samp", "small"),
        *("span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "video", "wbr"),
    ]
)
DEEPEST = 40
"""Maximum depth of lists and quotations; deeper ones stay as written."""
MOST_LINES = 10 * MOST_BLOCKS
"""Of one document."""
_LINE = r"[^\S\n]*+\S[^\n]*+"
_PARAGRAPH = re.compile(rf"^{_LINE}(?:\n{_LINE})*+", re.MULTILINE)
LONGEST = 20_000
"""Maximum characters of a paragraph that is parsed; a longer one is data and stays as written."""


class TextLine(NamedTuple):
    """A line without its end, and its first index in the text."""

    text: str
    start: int


def read_markdown(text: str) -> Page:
    """Return the title and the blocks of a text in Markdown. Any text is valid Markdown.

    The title is that of the front matter, or else the one heading above all others. The rest of the front matter is
    the first block. Raises `BadInput` for too many lines.
    """
    starts = [line.start for line in text_lines(text)]
    front, title = _FRONT.match(text), ""
    about: list[Block] = []
    if front is not None:
        if (named := _FRONT_TITLE.search(front[1])) is not None:
            title = named[1].strip(" \t").strip("\"'")
        if said := _FRONT_TITLE.sub("", front[1], count=1).strip("\n"):
            about = [Prose(said, Place(span=Span(*front.span(1)), line=2), is_code=True)]

    def span(first: int, last: int) -> Span:
        return Span(starts[first - 1], starts[last] - 1 if last < len(starts) else len(text))

    page = page_of(Markup(html_of(text), is_marked=True), span)
    page.title = title or page.title
    page.lift_title()
    page.blocks[:0] = about
    for name, value, below in _FRONT_HEAD.findall(front[1]) if front is not None else ():
        if name.lower() in _HEADS and (head := _head(value, below)):
            page.heads[name.lower()] = head
    return page


def html_of(text: str) -> str:
    """Return a text in Markdown as HTML, without its front matter. Its blocks say on which lines they stand."""
    body, front = text.replace(MARK, "\ufffd").replace(_BAR, "\ufffd"), _FRONT.match(text)
    if front is not None:
        body = "\n" * front[0].count("\n") + body[front.end() :]
    html: str = _PARSER.render(_CODE.sub(lambda code: code[0].replace("|", _BAR), body))
    return html.replace(_BAR, "|")


def _head(value: str, below: str) -> JsonValue:
    """Return a value of the front matter, or the list in brackets or below its key."""
    listed = value[1:-1].split(",") if value.startswith("[") else [line.strip()[1:] for line in below.split("\n")[1:]]
    said = [_REMARK.sub("", one).strip().strip("\"'") for one in listed or [value]]
    return [one for one in said if one] if listed else said[0]


def read_plain(text: str) -> list[Block]:
    """Return the paragraphs of a text without marks: blank lines part them. Raises `BadInput` for too many lines."""
    _check_lines(text)
    blocks: list[Block] = Blocks()
    for found in _PARAGRAPH.finditer(text):
        blocks.append(Prose("\n".join(map(str.strip, found[0].split("\n"))), Place(span=Span(*found.span()))))
    return blocks


def anchor_of(heading: str) -> str:
    """Return the anchor of a heading: its words in lower case, joined by hyphens."""
    return _NO_ANCHOR.sub("", heading.casefold()).strip().replace(" ", "-")


def text_lines(text: str) -> Iterator[TextLine]:
    """Yield the lines of a text. Raises `BadInput` for too many."""
    _check_lines(text)
    start = 0
    for line in text.split("\n"):
        yield TextLine(line, start)
        start += len(line) + 1


def _check_lines(text: str) -> None:
    if text.count("\n") > MOST_LINES:
        raise BadInput(f"more than {MOST_LINES:,} lines: part it")


def span_of(lines: Sequence[TextLine]) -> Span:
    """Return the span of consecutive lines."""
    return Span(lines[0].start, lines[-1].start + len(lines[-1].text))


# ------------------------------------------------------------------------------------------------------------- HTML


class _Renderer(RendererHTML):
    """Writes HTML whose blocks say on which lines they stand, and in which titles of links and images are words."""

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:  # Any: not asked for
        return f'<pre {MARK}="{tokens[idx].attrs.get(MARK, 1)}">\n{escape(tokens[idx].content, quote=False)}</pre>\n'

    code_block = fence

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        token = tokens[idx]
        words = self.renderInlineAsText(token.children or (), options, env)
        return escape(words + _in_brackets(token.attrs.get("title")), quote=False)

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        env.setdefault("titles", []).append(tokens[idx].attrs.pop("title", ""))
        return self.renderToken(tokens, idx, options, env)

    def link_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"</a>{escape(_in_brackets(env['titles'].pop()), quote=False)}"

    def html_inline(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        return _known(tokens[idx].content)

    def html_block(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        return f'<wbr {MARK}="{tokens[idx].attrs.get(MARK, 1)}">{_known(tokens[idx].content)}'

    def footnote_ref(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        label = tokens[idx].meta.get("label")
        if label is None:
            return f" ({self.renderInline(env['footnotes']['list'][tokens[idx].meta['id']]['tokens'], options, env)})"
        return f'<a href="#fn:{escape(label)}">[{escape(label)}]</a>'

    def footnote_reference_open(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        label = escape(tokens[idx].meta["label"])
        return f'<div {MARK}="{tokens[idx].attrs.get(MARK, 1)}" id="fn:{label}">[{label}] '

    def footnote_reference_close(self, *_: Any) -> str:
        return "</div>"


def _in_brackets(title: Any) -> str:  # Any: what attributes hold
    return f" ({title})" if title else ""


def _known(markup: str) -> str:
    """Return a piece of HTML with unknown tags, and unclosed elements of `_PAIRED`, escaped as text."""
    lower = markup.lower()
    ends = {name: lower.rfind(f"</{name}") for name in _PAIRED} | {"": lower.rfind("-->")}

    def kept(match: re.Match[str]) -> str:
        name = (match[1] or "").lower()
        is_known = match.start() <= ends[name] if name in _PAIRED or match[0] == "<!--" else name in _NAMES
        return match[0] if is_known else f"&lt;{match[0][1:]}"

    return _TAG.sub(kept, markup)


def _marked(state: StateCore) -> None:
    """Note on which lines the blocks stand, and what links call headings."""
    for at, token in enumerate(state.tokens):
        if token.map is not None and token.nesting >= 0:
            first, last = token.map[0] + 1 + (token.type == "fence"), max(token.map[1], token.map[0] + 1)
            token.attrSet(MARK, f"{min(first, last)}-{last}")
        if token.type == "heading_open":
            inside = state.tokens[at + 1].children or ()
            token.attrSet("id", anchor_of("".join(part.content for part in inside if part.type != "html_inline")))


def _wiki_link(state: StateInline, silent: bool) -> bool:
    match = _WIKI.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    page, part = match[1], match[2] or ""
    if not silent:
        state.push("link_open", "a", 1).attrSet("href", page + part)
        state.push("text", "", 0).content = match[3] or page or part[1:]
        state.push("link_close", "a", -1)
    state.pos = match.end()
    return True


def _times(state: StateInline, silent: bool) -> bool:
    """Keep an asterisk between two digits: `2*3*4` is not emphasis."""
    if not _TIMES.match(state.src, state.pos):
        return False
    if not silent:
        state.pending += "*"
    state.pos += 1
    return True


def _table(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Read a table. Cells beyond the header's columns join the last one."""
    first = len(state.tokens)
    is_table = table(state, line, end, silent)
    cells: list[Token] = []
    written: list[str] = []
    for token in state.tokens[first:]:
        if token.type == "inline":
            cells.append(token)
        elif token.type == "tr_open" and token.map is not None:
            cells, written = [], escapedSplit(getLine(state, token.map[0]).strip().removeprefix("|"))
        elif token.type == "tr_close":
            cells[-1].content = " ".join([cells[-1].content, *written[len(cells) :]]).strip()
    return is_table


def _too_deep(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Keep what is nested too deeply as written; the parser would drop it."""
    if state.level < 2 * DEEPEST or silent:
        return False
    token = state.push("code_block", "code", 0)
    token.content, token.map = state.getLines(line, end, 0, True), [line, end]
    state.line = end
    return True


def _whole(state: StateCore) -> None:
    """Keep a paragraph that is too long as written."""
    for token in state.tokens:
        if token.type == "inline" and len(token.content) > LONGEST:
            token.type = "text"


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 2 * DEEPEST + 20}, renderer_cls=_Renderer)
    parser.enable(["table", "strikethrough"]).use(deflist_plugin).use(tasklists_plugin)
    parser.use(footnote_plugin, move_to_end=False).add_render_rule("footnote_ref", _Renderer.footnote_ref)
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    parser.block.ruler.before("table", "too_deep", _too_deep)
    parser.inline.ruler.before("link", "wiki_link", _wiki_link)
    parser.inline.ruler.before("emphasis", "times", _times)
    parser.core.ruler.before("inline", "whole", _whole)
    parser.core.ruler.push("marked", _marked)
    return parser


_PARSER = _parser()

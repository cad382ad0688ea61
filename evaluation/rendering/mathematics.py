"""Mathematics in Markdown: `\\(...\\)`, `\\[...\\]`, `$$...$$`, and between single dollars where that is wanted.

Code spans and blocks are found before, so nothing in them is mathematics. What is no LaTeX stays as it was written, as
code.
"""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from evaluation.rendering.latex import to_mathml

BLOCKS = {"\\[": "\\]", "$$": "$$"}
INLINE = {"\\(": "\\)", **BLOCKS}
# As Pandoc has it: no space inside the dollars, no digit after them, so that "from $5 to $9" is about money.
SINGLE = re.compile(r"\$(?![\s$])((?:\\.|[^\\$])*?)(?<!\s)\$(?![\d$])", re.DOTALL)
MAX_SINGLE = 1_000
# A formula that may be wider than its column can be scrolled from the keyboard; the others are no stop on the way.
LONG = 60


# Of JSON in a cell the backslash is written twice.
DELIMITED = re.compile(r"\\\(.+?\\\)|\\\[.+?\\\]|\$\$.+?\$\$", re.DOTALL)


@dataclass(frozen=True)
class Spelling:
    """A way to write mathematics: how it is named, what finds it, and the rule of a study that decides how it is
    shown, which is true where it `shows` it as mathematics."""

    name: str
    found: re.Pattern[str]
    rule: str
    shows: bool


# By the name that a form sends.
SPELLINGS = {
    "dollars": Spelling("$…$", SINGLE, "single_dollars", shows=True),
    "delimited": Spelling(r"\(…\), \[…\] or $$…$$", DELIMITED, "written_formulas", shows=False),
}


def mathematics(markdown: MarkdownIt, *, single_dollars: bool, written: bool) -> None:
    """Teach a parser to find and render mathematics, or to leave it as it was `written`: where a single dollar opens
    none, Markdown does so by itself."""
    before_blocks: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    markdown.block.ruler.before("fence", "formula_block", _block_rule, before_blocks)
    markdown.inline.ruler.before("escape", "formula", _inline_rule)
    if single_dollars:
        markdown.inline.ruler.after("formula", "single_dollars", _single_rule)
    markdown.add_render_rule("formula_block", _write_block if written else _render_block)
    markdown.add_render_rule("formula", _write_inline if written else _render_inline)


def _block_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A formula on lines of its own, up to the end of the line on which it closes."""
    if state.is_code_block(start):
        return False
    begin = state.bMarks[start] + state.tShift[start]
    opened = state.src[begin : begin + 2]
    if opened not in BLOCKS:
        return False
    source: list[str] = []
    for line in range(start, end):
        if line > start and state.sCount[line] < state.blkIndent and not state.isEmpty(line):
            return False
        first = begin + 2 if line == start else state.bMarks[line] + state.tShift[line]
        text = state.src[first : state.eMarks[line]]
        before, closed, after = text.partition(BLOCKS[opened])
        source.append(before)
        if closed:
            if after.strip(" \t.,;"):
                return False
            if not silent:
                _push_block(state, opened, "\n".join(source), after.strip(), (start, line + 1))
            return True
    return False


def _push_block(state: StateBlock, opened: str, source: str, after: str, lines: tuple[int, int]) -> None:
    token = state.push("formula_block", "", 0)
    token.block = True
    token.content, token.markup, token.info, token.map = source, opened, after, list(lines)
    state.line = lines[1]


def _inline_rule(state: StateInline, silent: bool) -> bool:
    opened = state.src[state.pos : state.pos + 2]
    if opened not in INLINE:
        return False
    begin = state.pos + 2
    closed = state.src.find(INLINE[opened], begin, state.posMax)
    if closed < 0:
        return opened != "$$" and _push_unclosed(state, opened, silent)
    if not silent:
        token = state.push("formula", "", 0)
        token.content, token.markup = state.src[begin:closed], opened
    state.pos = closed + 2
    return True


def _push_unclosed(state: StateInline, opened: str, silent: bool) -> bool:
    """Show an unclosed formula as it was written, up to the end of its line."""
    line_end = state.src.find("\n", state.pos, state.posMax)
    end = state.posMax if line_end < 0 else line_end
    if not silent:
        state.push("code_inline", "code", 0).content = state.src[state.pos : end]
    state.pos = end
    return True


def _single_rule(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "$" or state.src[max(0, state.pos - 1) : state.pos] == "$":
        return False
    match = SINGLE.match(state.src, state.pos, min(state.posMax, state.pos + MAX_SINGLE))
    if match is None:
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.content, token.markup = match[1], "$"
    state.pos = match.end()
    return True


def _render_block(self: Any, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
    token = tokens[idx]
    mathml = to_mathml(token.content, display=True)
    if mathml is None:
        return f'<pre tabindex="0"><code>{html.escape(_block_source(token))}</code></pre>\n'
    return _framed(mathml, token) + (f'<p dir="auto">{html.escape(token.info)}</p>\n' if token.info else "")


def _block_source(token: Token) -> str:
    return token.markup + token.content + BLOCKS[token.markup] + token.info


def _write_block(self: Any, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
    lines = html.escape(_block_source(tokens[idx])).split("\n")
    return f'<p dir="auto">{"<br>".join(lines)}</p>\n'


def _framed(mathml: str, token: Token) -> str:
    stop = ' tabindex="0"' if len(token.content) > LONG else ""
    return f'<div class="formula" role="group" aria-label="Formula"{stop}>{mathml}</div>\n'


def _render_inline(self: Any, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
    token = tokens[idx]
    # A displayed formula within a sentence stands in its line: a paragraph can't hold a block.
    mathml = to_mathml(token.content, display=False)
    if mathml is not None:
        return mathml
    return f"<code>{html.escape(_inline_source(token))}</code>"


def _inline_source(token: Token) -> str:
    return token.markup + token.content + INLINE.get(token.markup, token.markup)


def _write_inline(self: Any, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
    # Between single dollars it is mathematics all the same, where the study says so.
    if tokens[idx].markup == "$":
        return _render_inline(self, tokens, idx, options, env)
    return html.escape(_inline_source(tokens[idx]))

"""Responses as safe HTML: CommonMark, then a sanitiser. Nothing that comes out can run, load or break the page.

Two walls: the renderer escapes raw HTML and drops images, the sanitiser allows a short list of tags. Either alone
would do; both must fail before a response harms a participant. Images in the text itself pass both where a study
wants them.
"""

import html
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

from evaluation.rendering.code import highlight
from evaluation.rendering.images import is_shown
from evaluation.rendering.mathematics import mathematics
from evaluation.rendering.rules import DEFAULT_RULES, EARLIER, RenderRules
from evaluation.rendering.sanitiser import COMMONMARK, DIRECTED, ILLUSTRATED, RICH, Allowed

# A response's headings stand under the page's own, which end here.
PAGE_LEVEL = 2


class _Renderer(RendererHTML):
    """Headings start under the page's own and leave no level out; images become their description."""

    def render(self, tokens: Sequence[Token], options: Any, env: Any) -> str:
        headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
        top = min((int(token.tag[1]) for token in headings), default=1)
        before = PAGE_LEVEL
        for token in headings:
            if token.type == "heading_open":
                before = min(int(token.tag[1]) - top + PAGE_LEVEL + 1, before + 1, 6)
            token.tag = f"h{before}"
        _direct(tokens)
        return str(super().render(tokens, options, env))

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        description = " ".join(self.renderInlineAsText(tokens[idx].children or [], options, env).split())
        return html.escape(f"[image: {description}]" if description else "[image]")

    def list_item_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """A task's box is a character, since nobody is to fill it in."""
        opened = self.renderToken(tokens, idx, options, env)
        return opened + {None: "", True: "☑ ", False: "☐ "}[tokens[idx].meta.get("checked")]

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f'<pre tabindex="0"><code>{html.escape(tokens[idx].content)}</code></pre>\n'

    code_block = fence


# Numbers without addresses: one within the page would be the same in every response on it.
FOOTNOTES: dict[str, Callable[[RendererHTML, Sequence[Token], int, Any, Any], str]] = {
    "footnote_ref": lambda _, tokens, at, options, env: f"<sup>[{tokens[at].meta['id'] + 1}]</sup>",
    "footnote_block_open": lambda *_: '<section class="footnotes"><ol>\n',
    "footnote_open": lambda *_: '<li dir="auto">',
    "footnote_anchor": lambda *_: "",
    "footnote_close": lambda *_: "</li>\n",
    "footnote_block_close": lambda *_: "</ol></section>\n",
}


def _direct(tokens: Sequence[Token]) -> None:
    """The outermost of these blocks takes its direction from its text; what has one of its own tells those around it
    nothing (`dir="auto"` passes over it), so the blocks inside have none."""
    within = 0
    for token in tokens:
        if token.tag in DIRECTED or token.type in ("footnote_open", "footnote_close"):
            if token.nesting == 1 and not within and token.tag:
                token.attrSet("dir", "auto")
            within += token.nesting
        if token.type.endswith("_list_open"):
            token.attrs.pop("class", None)


def _keep_unreferenced(state: StateCore) -> None:
    """A footnote to which nothing refers stands with the others; the plugin would leave it out."""
    footnotes = state.env.get("footnotes", {})
    for label, number in footnotes.get("refs", {}).items():
        if number < 0:
            footnotes["refs"][label] = len(footnotes["list"])
            footnotes["list"][len(footnotes["list"])] = {"label": label[1:], "count": 0}


class _RichRenderer(_Renderer):
    """Code in colours, tables that scroll in a frame, and images, where they are wanted, that are in the text."""

    images = False

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        language = tokens[idx].info.strip().split(maxsplit=1)
        code = highlight(tokens[idx].content, language[0] if language else "")
        return f'<pre tabindex="0"><code>{code}</code></pre>\n'

    def table_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        opened = self.renderToken(tokens, idx, options, env)
        return f'<div class="wide" role="group" aria-label="Table" tabindex="0">{opened}'

    def table_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return "</table></div>\n"

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        description = " ".join(self.renderInlineAsText(tokens[idx].children or [], options, env).split())
        source = str(tokens[idx].attrs.get("src", ""))
        if self.images and is_shown(source):
            return f'<img src="{html.escape(source)}" alt="{html.escape(description)}">'
        return html.escape(f"[image not loaded: {description}]" if description else "[image not loaded]")


class _IllustratedRenderer(_RichRenderer):
    images = True


_OPTIONS = {"html": False, "linkify": False, "tasklists": True, "maxNesting": 30}


@cache
def _parser(rules: RenderRules) -> MarkdownIt:
    kinds = {True: _IllustratedRenderer, False: _RichRenderer}
    renderer = _Renderer if rules.renderer == EARLIER else kinds[rules.images]
    parser = (
        MarkdownIt("commonmark", {**_OPTIONS, "breaks": rules.breaks}, renderer_cls=renderer)
        .enable(["table", "strikethrough"])
        .use(footnote_plugin, inline=False)
    )
    parser.core.ruler.before("footnote_tail", "keep_unreferenced", _keep_unreferenced)
    for name, rule in FOOTNOTES.items():
        parser.add_render_rule(name, rule)
    if rules.renderer != EARLIER:
        mathematics(parser, single_dollars=rules.single_dollars, written=rules.written_formulas)
    return parser


def _allowed(rules: RenderRules) -> Allowed:
    if rules.renderer == EARLIER:
        return COMMONMARK
    return ILLUSTRATED if rules.images else RICH


def render_markdown(text: str, rules: RenderRules = DEFAULT_RULES) -> str:
    """Markdown as sanitised HTML."""
    return _allowed(rules).clean(_parser(rules).render(text))


def render_plain(text: str) -> str:
    """Plain text as HTML: paragraphs at blank lines, line breaks kept."""
    paragraphs = [part.strip("\n") for part in text.replace("\r\n", "\n").split("\n\n")]
    return "\n".join(
        f'<p dir="auto">{"<br>".join(html.escape(paragraph).split(chr(10)))}</p>'
        for paragraph in paragraphs
        if paragraph
    )

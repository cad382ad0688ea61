"""Responses as safe HTML: CommonMark, then a sanitiser. Nothing that comes out can run, load or break the page.

Two walls: the renderer escapes raw HTML and drops images, the sanitiser allows a short list of tags. Either alone
would do; both must fail before a response harms a participant.
"""

import html
from collections.abc import Callable, Sequence
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

# Part of every stimulus and so of its hash: a change of what comes out is a new version.
RENDERER = "commonmark-2"

# Each runs in the direction of its own text: an Arabic paragraph in an English response from right to left.
DIRECTED = {"p", "h3", "h4", "h5", "h6", "blockquote", "li", "table"}
TAGS = DIRECTED | {
    "br", "hr", "ul", "ol", "strong", "em", "s", "sup", "code", "pre", "a", "thead", "tbody", "tr", "th", "td",
    "section",
}  # fmt: skip
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
# Attributes with the only value that they may have. Code wider than the page is scrolled, from the keyboard too.
VALUES = {**{tag: {"dir": {"auto"}} for tag in DIRECTED}, "pre": {"tabindex": {"0"}}}
CLASSES = {"li": {"task-list-item"}, "section": {"footnotes"}}
LINK_RULES = {"http", "https", "mailto"}


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


_OPTIONS = {"html": False, "linkify": False, "tasklists": True, "maxNesting": 30}
_markdown = (
    MarkdownIt("commonmark", _OPTIONS, renderer_cls=_Renderer)
    .enable(["table", "strikethrough"])
    .use(footnote_plugin, inline=False)
)
_markdown.core.ruler.before("footnote_tail", "keep_unreferenced", _keep_unreferenced)
for _name, _rule in FOOTNOTES.items():
    _markdown.add_render_rule(_name, _rule)


def render_markdown(text: str) -> str:
    """Markdown as sanitised HTML."""
    return nh3.clean(
        _markdown.render(text),
        tags=TAGS,
        attributes=ATTRIBUTES,
        tag_attribute_values=VALUES,
        allowed_classes=CLASSES,
        url_schemes=LINK_RULES,
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
        strip_comments=True,
    ).strip()


def render_plain(text: str) -> str:
    """Plain text as HTML: paragraphs at blank lines, line breaks kept."""
    paragraphs = [part.strip("\n") for part in text.replace("\r\n", "\n").split("\n\n")]
    return "\n".join(
        f'<p dir="auto">{"<br>".join(html.escape(paragraph).split(chr(10)))}</p>'
        for paragraph in paragraphs
        if paragraph
    )

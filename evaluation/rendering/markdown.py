"""Responses as safe HTML: CommonMark, then a sanitiser. Nothing that comes out can run, load or break the page.

Two walls: the renderer escapes raw HTML and drops images, the sanitiser allows a short list of tags. Either alone
would do; both must fail before a response harms a participant.
"""

import html
from collections.abc import Sequence
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

# Part of every stimulus and so of its hash: a change of what comes out is a new version.
RENDERER = "commonmark-1"

TAGS = {
    "p", "br", "hr", "ul", "ol", "li", "strong", "em", "s", "code", "pre", "blockquote", "a",
    "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
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
        return str(super().render(tokens, options, env))

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        text = self.renderInlineAsText(tokens[idx].children or [], options, env)
        return html.escape(f"[{text or 'image'}]")


_markdown = MarkdownIt(
    "commonmark", {"html": False, "linkify": False, "maxNesting": 30}, renderer_cls=_Renderer
).enable(["table", "strikethrough"])


def render_markdown(text: str) -> str:
    """Markdown as sanitised HTML."""
    return nh3.clean(
        _markdown.render(text),
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes=LINK_RULES,
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
        strip_comments=True,
    ).strip()


def render_plain(text: str) -> str:
    """Plain text as HTML: paragraphs at blank lines, line breaks kept."""
    paragraphs = [part.strip("\n") for part in text.replace("\r\n", "\n").split("\n\n")]
    return "\n".join(
        f"<p>{'<br>'.join(html.escape(paragraph).split(chr(10)))}</p>"
        for paragraph in paragraphs
        if paragraph
    )

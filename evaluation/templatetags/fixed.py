"""`{% fixed %}`: a part of a template that is the same for everybody, rendered once per process and language."""

from typing import Any

from django import template
from django.template.base import NodeList, Parser, Token
from django.template.context import Context
from django.utils.safestring import SafeString
from django.utils.translation import get_language

register = template.Library()
LANGUAGE = "language of fixed parts"


class FixedNode(template.Node):
    child_nodelists = ("nodelist",)

    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist
        self.by_language: dict[str | None, SafeString] = {}

    def render(self, context: Context) -> SafeString:
        # Asked once per template: a page has twenty fixed parts, and Django looks the language up anew each time.
        known: Any = context.render_context
        language: str | None = known.get(LANGUAGE) or known.setdefault(LANGUAGE, get_language())
        text = self.by_language.get(language)
        if text is None:
            # Nothing of the page's context is there, so nothing of one person can be kept for another.
            alone = Context()
            alone.template = context.template
            text = self.by_language[language] = self.nodelist.render(alone)
        return text


@register.tag
def fixed(parser: Parser, token: Token) -> FixedNode:
    """Render the content once per language: `{% fixed %}<b>{% translate "Done" %}</b>{% endfixed %}`."""
    nodelist = parser.parse(("endfixed",))
    parser.delete_first_token()
    return FixedNode(nodelist)

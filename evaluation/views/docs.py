"""The documentation of this installation's version, as pages for its members."""

import posixpath
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin

DOCS: Path = settings.BASE_DIR / "docs"
# Where the others are: platforms have pages of their names.
OTHERS = "Recruitment"
# What a reader comes for, with the beginnings of its pages' names in the order to read them.
GROUPS = (
    ("First steps", ("getting-started", "admin", "glossary")),
    ("Design", ("protocols/", "papers")),
    (OTHERS, ()),
    ("Judges", ("judges", "runs", "scores")),
    ("Results", ("report", "statistics", "replication")),
    ("Pipelines", ("pipelines/",)),
    ("Files and scripts", ("formats", "api")),
    ("Installation", ("operating", "settings", "security", "performance")),
    ("Development", ("architecture", "accessibility", "faults")),
)


@login_required
@require_safe
def docs_index(request: HttpRequest) -> HttpResponse:
    return render(request, "evaluation/docs_index.html", {"groups": _groups()})


@login_required
@require_safe
def docs_page(request: HttpRequest, page: str) -> HttpResponse:
    title = dict(_titles()).get(page)
    if title is None:
        raise Http404
    return render(request, "evaluation/docs_page.html", {"title": title, "text": _rendered(page)})


@login_required
@require_safe
def docs_image(request: HttpRequest, name: str) -> HttpResponse:
    path = DOCS / "images" / f"{name}.png"
    if not path.is_file():
        raise Http404
    return HttpResponse(path.read_bytes(), content_type="image/png")


@cache
def _titles() -> list[tuple[str, str]]:
    """Name and title of each page."""
    found = []
    for path in sorted(DOCS.rglob("*.md")):
        name = path.relative_to(DOCS).with_suffix("").as_posix()
        title = path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        if title.startswith("`"):
            title = title.replace("_", " ").strip("`").capitalize()
        found.append((name, title.replace("`", "")))
    return found


@cache
def _groups() -> list[tuple[str, list[tuple[str, str]]]]:
    """The pages by what a reader comes for."""
    found: dict[str, list[tuple[int, str, str]]] = {heading: [] for heading, _ in GROUPS}
    for name, title in _titles():
        heading, at = next(
            (
                (heading, at)
                for heading, starts in GROUPS
                for at, start in enumerate(starts)
                if name.startswith(start)
            ),
            (OTHERS, 0),
        )
        found[heading].append((at, name, title))
    return [(heading, [(name, title) for _, name, title in sorted(rows)]) for heading, rows in found.items()]


@cache
def _rendered(page: str) -> str:
    """The page as HTML. The files are the project's own, so that nothing in them needs to be taken out."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").use(anchors_plugin, max_level=4)
    # What is wider than the page scrolls by itself, by keys, too.
    parser.add_render_rule("table_open", lambda *_: '<div class="scroll" tabindex="0"><table>')
    parser.add_render_rule("table_close", lambda *_: "</table></div>")
    parser.add_render_rule("fence", _code)
    parser.add_render_rule("code_block", _code)
    tokens = parser.parse((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    for token in tokens:
        token.children = _linked(page, token.children) if token.children else token.children
    html = str(parser.renderer.render(tokens, parser.options, {}))
    # An empty head is no head of anything.
    return mark_safe(html.replace("<th></th>", "<td></td>"))  # noqa: S308 - the project's own


def _code(renderer: Any, tokens: Any, at: int, *_: Any) -> str:
    return f'<pre class="scroll" tabindex="0"><code>{escape(tokens[at].content)}</code></pre>'


def _linked(page: str, tokens: list[Token]) -> list[Token]:
    """With links between pages that lead to their addresses, and without those to files that no page shows."""
    kept, dropped = [], False
    for token in tokens:
        if token.type == "link_open":
            address = _address(page, str(token.attrs["href"]))
            dropped = not address
            token.attrs["href"] = address
        elif token.type == "image":
            token.attrs["src"] = _address(page, str(token.attrs["src"]))
        if not (dropped and token.type in ("link_open", "link_close")):
            kept.append(token)
    return kept


def _address(page: str, target: str) -> str:
    if ":" in target or target.startswith("#"):
        return target
    path, mark, anchor = target.partition("#")
    named = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
    name, suffix = posixpath.splitext(named)
    if suffix == ".md" and name in dict(_titles()):
        return reverse("evaluation:docs-page", args=[name]) + mark + anchor
    if suffix == ".png" and name.startswith("images/"):
        return reverse("evaluation:docs-image", args=[name.removeprefix("images/")])
    return ""

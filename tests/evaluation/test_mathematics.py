"""Mathematics, code in colours, images in the text: what is shown, and that none of it can do harm."""

import pytest

from evaluation.rendering.box import RenderBox
from evaluation.rendering.images import MAX_IMAGE, describe_images
from evaluation.rendering.latex import MAX_LENGTH, to_mathml
from evaluation.rendering.markdown import render_markdown
from evaluation.rendering.rules import EARLIER, RENDERER, WITHOUT_BREAKS, RenderRules
from evaluation.rendering.sanitiser import ILLUSTRATED, LAYOUT, LEAVES, RICH
from tests.evaluation.test_rendering import read

SINGLE = RenderRules(single_dollars=True)
ILLUSTRATE = RenderRules(images=True)
SQUARE = "<math><msup><mi>x</mi><mn>2</mn></msup></math>"
DISPLAYED = SQUARE.replace("<math>", '<math display="block">')
FRAMED = f'<div class="formula" role="group" aria-label="Formula">{DISPLAYED}</div>'
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (r"So \(x^2\), then.", f'<p dir="auto">So {SQUARE}, then.</p>'),
        (r"\(x^2\)\(x^2\)", f'<p dir="auto">{SQUARE}{SQUARE}</p>'),
        (r"**\(x^2\)**", f'<p dir="auto"><strong>{SQUARE}</strong></p>'),
        ("A sentence $$x^2$$ goes on.", f'<p dir="auto">A sentence {SQUARE} goes on.</p>'),
        ("Here:\n\\[\nx^2\n\\]\nThere.", f'<p dir="auto">Here:</p>\n{FRAMED}\n<p dir="auto">There.</p>'),
        ("$$x^2$$", FRAMED),
        ("- \\[\n  x^2\n  \\]", f'<ul>\n<li dir="auto">\n{FRAMED}\n</li>\n</ul>'),
        ("> $$\n> x^2\n> $$", f'<blockquote dir="auto">\n{FRAMED}\n</blockquote>'),
    ],
)
def test_formulas_are_found_in_text(text, html):
    assert render_markdown(text) == html


def test_formulas_stay_as_they_were_written_where_the_study_says_so():
    text = "So \\(a_1 * b_2 < c\\) and `\\(x\\)`.\n\n$$\nx^2\n$$\n\nAnd $y$."
    assert render_markdown(text, RenderRules(written_formulas=True)) == (
        '<p dir="auto">So \\(a_1 * b_2 &lt; c\\) and <code>\\(x\\)</code>.</p>\n'
        '<p dir="auto">$$<br>x^2<br>$$</p>\n<p dir="auto">And $y$.</p>'
    )
    both = render_markdown("$x^2$ and \\(y\\)", RenderRules(single_dollars=True, written_formulas=True))
    assert "<msup>" in both
    assert both.endswith("and \\(y\\)</p>")


def test_what_looks_like_markdown_in_a_formula_is_mathematics():
    html = render_markdown("\\[\n- a * b * c\n=\n# + d_1 e_1\n\\]")
    assert "<li>" not in html
    assert "<h" not in html
    assert "<em>" not in html


@pytest.mark.parametrize(
    "text", [r"`\(x^2\)`", r"`` $$x^2$$ ``", "```\n\\[x^2\\]\n```", "    \\[x^2\\]", "~~~tex\n$$x^2$$\n~~~"]
)
def test_code_is_no_mathematics(text):
    assert "<math" not in render_markdown(text, SINGLE)
    assert "x^2" in read(render_markdown(text, SINGLE))


@pytest.mark.parametrize(
    ("text", "with_dollars"),
    [
        ("the $x^2$ of it", 1),
        ("$x^2$ and $x^2$.", 2),
        ("from $5 to $9", 0),
        ("it costs $5, or $6.50 $", 0),
        (r"\$x^2\$", 0),
        ("$ x^2 $", 0),
        ("$$$", 0),
    ],
)
def test_single_dollars_are_money_unless_the_study_says_otherwise(text, with_dollars):
    assert "<math" not in render_markdown(text)
    assert render_markdown(text, SINGLE).count(SQUARE) == with_dollars
    if not with_dollars:
        assert read(render_markdown(text, SINGLE)) == text.replace("\\", "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"see \(\frac{1}{\) there", r"see <code>\(\frac{1}{\)</code> there"),
        (r"see \(\unheardof x\) there", r"see <code>\(\unheardof x\)</code> there"),
        (r"see \(x^2 and **on**", r"see <code>\(x^2 and **on**</code>"),
        ("$$\\frac{1$$", '<pre tabindex="0"><code>$$\\frac{1$$</code></pre>'),
        ("\\[\n}{\n\\].", '<pre tabindex="0"><code>\\[\n}{\n\\].</code></pre>'),
        (r"\(\)", r"<code>\(\)</code>"),
    ],
)
def test_what_is_no_latex_can_be_read_as_it_was_written(text, shown):
    assert shown in render_markdown(text)


@pytest.mark.parametrize(
    ("source", "part"),
    [
        (r"\begin{align} a &= b \\ c &= d \end{align}", '<mtd class="to-right no-right"><mi>a</mi></mtd>'),
        (r"\begin{split} a &= b \end{split}", "<mtable"),
        (r"\begin{cases} 1 & x > 0 \\ 0 & \text{if $y$} \end{cases}", "<mi>y</mi>"),
        (r"x = 1 \tag{7}", "<mtext>(7)</mtext>"),
        (r"\boxed{42}", '<mrow class="boxed"><mn>42</mn></mrow>'),
        (r"\begin{array}{c|c} a & b \end{array}", 'class="line-right"'),
        (r"\mathbb{C} \ni \mbox{a}", "<mtext>a</mtext>"),
        (r"\sum_{\substack{i \\ j}} \ldots", "<mtr>"),
        (r"\color{red}{x}", "<mi>x</mi>"),
        (r"\textbf{so}", "<mtext>so</mtext>"),
    ],
)
def test_what_language_models_write(source, part):
    html = render_markdown(f"\\[{source}\\]")
    assert part in html
    assert " style=" not in html
    assert "(1)" not in html, "formulas are numbered by their own tags alone"
    read(html)


HOSTILE = [
    r"\text{<script>alert(1)</script>}",
    r"\text{</math><script>alert(1)</script>}",
    r"\text{</mtext></math><img src=x onerror=alert(1)>}",
    r"\mathrm{<img src=x onerror=alert(1)>}",
    r"\operatorname{<svg/onload=alert(1)>}",
    r"\href{javascript:alert(1)}{x}",
    r"\url{javascript:alert(1)}",
    r"\eqref{x} \ref{javascript:alert(1)}",
    r"\begin{equation}x \label{a\" onclick=\"alert(1)}\end{equation} \eqref{a}",
    r"\htmlClass{x}{y} \htmlStyle{position:fixed}{y} \cssId{x}{y} \class{x}{y} \style{position:fixed}{y}",
    r"\unicode{x3c}script\unicode{x3e}",
    r"\color{red;position:fixed}{x}",
    r"\hspace{10000em} x \hspace{-10000em}",
    r"\raisebox{-500em}{x} \kern 5000em",
    r"\includegraphics{https://evil.example/x.png}",
    r"\input{/etc/passwd}",
    r"\def\a{\a\a}\a",
    r"\newcommand{\a}[1]{#1#1#1#1}\a{\a{\a{\a{\a{x}}}}}",
    r"\let\a\text \a{x}",
    "{" * 3000,
    "}" * 3000,
    "{" * 1900 + "x" + "}" * 1900,
    "\\sqrt" * 700 + " x",
    "\\frac1" * 600,
    "\\underset x" * 300,
    "\\left(" * 600,
    "\\begin{matrix}" * 250 + "x" + "\\end{matrix}" * 250,
    "x^{" * 1300,
    "x" * (MAX_LENGTH + 1),
    "\x00\\text{\x00<scr\x00ipt>}",
]


@pytest.mark.parametrize("source", HOSTILE, ids=lambda source: source[:24])
def test_no_formula_does_harm_or_ends_the_process(source):
    for html in (render_markdown(f"\\[{source}\\]"), render_markdown(f"a \\({source}\\) b")):
        read(html)
    mathml = to_mathml(source, display=True)
    assert mathml is None or " style=" not in mathml


MARKUP = [
    "<math><mtext><img src=x onerror=alert(1)></mtext></math>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<math><annotation-xml encoding='text/html'><script>alert(1)</script></annotation-xml></math>",
    "<math><semantics><mi>x</mi><annotation-xml><annotation-xml encoding='application/xhtml+xml'><iframe src=//evil>",
    "<math href='javascript:alert(1)'><mi href='javascript:alert(1)' xlink:href='javascript:alert(1)'>x</mi></math>",
    "<math><maction actiontype='statusline#http://evil.example'>x<mtext>y</mtext></maction></math>",
    "<math><mi style='position:fixed' class='bar' id='main' onclick='alert(1)'>x</mi></math>",
    "<math><mi//xlink:href='data:x,<script>alert(1)</script>'>x",
    "<math><mspace width='10000em' height='-5em'></mspace><mo minsize='900em'>(</mo><mpadded voffset='9em'></mpadded>",
    "<math><menclose notation='box' background='red'><mglyph src='//evil.example/x.png'></mglyph></menclose></math>",
    "<math><mstyle background='url(//evil.example)' mathsize='9000%'><mi mathcolor='red' mathbackground='red'>x",
    "<math><svg><foreignObject><p><style><img src=x onerror=alert(1)></style></p></foreignObject></svg></math>",
    "<math><ms lquote='<script>'>x</ms><merror>x</merror><mlabeledtr></mlabeledtr></math>",
    "<div class='wide bar' role='banner' aria-label='Log in' tabindex='9' style='position:fixed'>x</div>",
    "<span class='k button'>x</span><div id='main' class='formula'>",
]


@pytest.mark.parametrize("markup", MARKUP, ids=lambda markup: markup[:40])
def test_the_sanitiser_alone_lets_nothing_of_mathml_through_but_layout(markup):
    for allowed in (RICH, ILLUSTRATED):
        cleaned = allowed.clean(markup)
        read(cleaned, allowed)
        assert allowed.clean(cleaned) == cleaned, "what comes out is read by a browser as it was meant"


def test_no_element_of_mathml_links_acts_or_holds_html():
    harmful = {
        "maction",
        "annotation",
        "annotation-xml",
        "semantics",
        "mglyph",
        "ms",
        "merror",
        "mstyle",
        "menclose",
    }
    assert harmful.isdisjoint(RICH.tags)
    assert all("href" not in RICH.attributes.get(tag, ()) for tag in LEAVES | LAYOUT | {"math"})
    assert all("style" not in names for names in [*RICH.attributes.values(), *RICH.values.values()])


def test_code_is_coloured_in_the_language_that_it_names():
    html = render_markdown("```python\ndef f(): return '<b>'  # so\n```")
    assert '<span class="k">def</span>' in html
    assert "&lt;b&gt;" in html
    assert read(html) == "def f(): return '<b>'  # so\n"


@pytest.mark.parametrize("fence", ["```\n", "```nolanguage\n", "```makefile\n", "~~~ <script>\n", "    "])
def test_code_in_no_known_language_is_plain(fence):
    html = render_markdown(f"{fence}def f(): pass")
    assert "<span" not in html
    assert "def f(): pass" in read(html)


@pytest.mark.parametrize("code", ["\n\n  x = 1\n\n", "'''", "\t\x0b\x0c", "a\r\nb", "é\u202e", "\\" * 99])
def test_colours_lose_nothing_of_the_code(code):
    fence = "```\n{}\n```"
    plain = read(render_markdown(fence.format(code)))
    assert read(render_markdown(fence.replace("```\n{", "```python\n{").format(code))) == plain


def test_a_table_is_in_a_frame_that_can_be_scrolled_from_the_keyboard():
    html = render_markdown("| a | b |\n|---|---|\n| 1 | 2 |")
    assert html.startswith(
        '<div class="wide" role="group" aria-label="Table" tabindex="0"><table dir="auto">'
    )
    assert html.endswith("</table></div>")


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (PIXEL, True),
        ("data:image/webp;base64,AAAA", True),
        ("https://evil.example/track.png", False),
        ("//evil.example/track.png", False),
        ("picture.png", False),
        ("data:image/svg+xml;base64,PHN2Zz4=", False),
        ("data:text/html;base64,PHNjcmlwdD4=", False),
        ("data:image/png,%89PNG", False),
        ("data:image/png;base64," + "A" * MAX_IMAGE, False),
    ],
    ids=lambda value: str(value)[:40],
)
def test_images_are_shown_only_as_data_and_only_where_the_study_says_so(source, shown):
    text = f"![A cat]({source})"
    assert "<img" not in render_markdown(text)
    html = render_markdown(text, ILLUSTRATE)
    read(html, ILLUSTRATED)
    assert html.count("<img") == shown
    if shown:
        assert html == f'<p dir="auto"><img src="{source}" alt="A cat"></p>'
    else:
        assert "evil.example" not in html.replace(text, "")


def test_an_image_that_is_not_loaded_says_what_it_shows():
    assert "[image not loaded: A cat]" in read(
        render_markdown("![A cat](https://evil.example/c.png)", ILLUSTRATE)
    )


@pytest.mark.parametrize(
    "to", ["data:text/html,<script>alert(1)</script>", PIXEL, "da\tta:text/html,x", " data:x"]
)
def test_no_link_leads_to_data_where_images_may_be(to):
    assert "href" not in ILLUSTRATED.clean(f'<a href="{to}">x</a>')
    assert 'href="https://example.org/a:b"' in ILLUSTRATED.clean('<a href="https://example.org/a:b">x</a>')


def test_those_who_read_no_images_read_what_they_show():
    assert describe_images(f"See ![A cat]({PIXEL}), ![]({PIXEL}).") == "See [image: A cat], [image]."
    assert describe_images("![A cat](cat.png)") == "![A cat](cat.png)"
    # Marks that open and never close: what comes after them is still found.
    marks = "![" * 200_000
    assert describe_images(f"{marks}A cat]({PIXEL})") == f"{marks[:-2]}[image: A cat]"


SAMPLE = r"""\(x\) $$y$$ $z$ ![a](b.png) ![c](data:image/png;base64,AAAA)

| a |
|---|
| b |

```python
pass
```"""
# What each version makes of the same text, word for word: where this differs, by a change of ours or of a package that
# it uses, what comes out is a new version.
RENDERED = {
    "commonmark-2": """<p dir="auto">(x) $$y$$ $z$ [image: a] [image: c]</p>
<table dir="auto">
<thead>
<tr>
<th>a</th>
</tr>
</thead>
<tbody>
<tr>
<td>b</td>
</tr>
</tbody>
</table>
<pre tabindex="0"><code>pass
</code></pre>""",
    "commonmark-3": """<p dir="auto"><math><mi>x</mi></math> <math><mi>y</mi></math> <math><mi>z</mi></math> \
[image not loaded: a] <img src="data:image/png;base64,AAAA" alt="c"></p>
<div class="wide" role="group" aria-label="Table" tabindex="0"><table dir="auto">
<thead>
<tr>
<th>a</th>
</tr>
</thead>
<tbody>
<tr>
<td>b</td>
</tr>
</tbody>
</table></div>
<pre tabindex="0"><code><span class="k">pass</span>
</code></pre>""",
}
# Only where the lines of a paragraph end do these two differ, and the rule `breaks` says where.
RENDERED["commonmark-4"] = RENDERED["commonmark-3"]


def test_every_version_renders_as_it_always_has():
    assert (*RENDERED,) == (*WITHOUT_BREAKS, RENDERER)
    for version, html in RENDERED.items():
        rules = RenderRules(version, single_dollars=True, images=True)
        assert render_markdown(SAMPLE, rules) == html


def test_a_long_text_follows_the_same_rules_in_the_box():
    text = SAMPLE + "\n\nmore words" * 300
    with RenderBox() as box:
        for rules in (RenderRules(EARLIER), SINGLE, ILLUSTRATE, RenderRules(breaks=True)):
            assert box.render(text, rules) == render_markdown(text, rules)
    assert box.fallbacks == 0

"""LaTeX and CSV of tables and reports: balanced, escaped, and the same figures as the page has."""

import csv
import io
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.display.numbers import MINUS, plain_number
from analytics.display.tables import Builder, Table, TableCell, columns, head, words
from analytics.reports.paper.latex_table import MOST_ROWS, latex_table
from analytics.reports.paper.latex_text import escape, is_latin
from analytics.reports.paper.latex_width import text_width
from analytics.reports.paper.table_csv import table_csv
from tests.analytics.reports.test_markdown import estimate

HOSTILE = (
    r"\input{/etc/passwd}",
    "100% & $x_1^2$ # ~ \\",
    "}{ {{ }",
    "[0.5em] * \\\\[3cm]",
    "^^M ^^41 \x00\x07 \ud800 \uffff",
    "a--b ---c ?` !` ,, '' `` << >>",
    "\\begin{verbatim} % \\end{document}",
    "Ελληνικά Кириллица العربية עברית 中文 हिन्दी ไทย \N{PILE OF POO} \u200d\u202e\u0301",
    "line\nbreak\r\n\r\n\tparagraph\u2028",
    "\u22120.5 \u2013 \u2014 “x” \u2018y\u2019 … \u03b1 κ τ₁ ≤ \u00d7 → \u00a0\u2009",
    'quotes " and | bars',
)
TEXT = st.text(max_size=40) | st.sampled_from(HOSTILE)
# What is left of escaped text once its commands are taken out has no character of LaTeX's syntax.
COMMAND = re.compile(
    r"\\(?:text[a-z]+\{\}|char34\{\}|ldots\{\}|ensuremath\{[^{}]*\}|[#$%&_]|,)|\{[\[*]\}|\{\}|~"
)


def is_balanced(text):
    depth = 0
    for each in re.sub(r"\\[{}\\]", "", text):
        depth += (each == "{") - (each == "}")
        if depth < 0:
            return False
    return depth == 0


def is_nested(text):
    """True if every environment that begins ends, the last one first."""
    opened = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if kind == "begin":
            opened.append(name)
        elif not opened or opened.pop() != name:
            return False
    return not opened


@given(TEXT)
def test_nothing_of_latex_is_left_in_text(text):
    left = COMMAND.sub("", escape(text))
    assert not set(left) & set('\\{}#$%&_^~[*<>|"`')
    assert "\n" not in left
    assert is_balanced(escape(text))
    escape(text).encode()


@given(st.text(alphabet="-',?!`<>", max_size=12))
def test_no_two_characters_become_one(text):
    printed = escape(text)
    assert not re.search(r"--|''|,,|[?!]`", printed)
    assert printed.replace("{}", "").count("-") == text.count("-")


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126)))
def test_plain_text_is_printed_as_it_reads(text):
    backslash = {r"\textbackslash{}": "\\", r"\textbraceleft{}": "{", r"\textbraceright{}": "}"}
    others = {
        r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", r"\textless{}": "<", r"\textgreater{}": ">",
        r"\textbar{}": "|", r"\char34{}": '"', r"\textasciigrave{}": "`", "{[}": "[", "{*}": "*", "{}": "",
        **{f"\\{each}": each for each in "#$%&_"},
    }  # fmt: skip
    found = re.sub(
        "|".join(map(re.escape, [*backslash, *others])),
        lambda each: (backslash | others)[each[0]],
        escape(text),
    )
    assert found == " ".join(text.split())


def test_mathematics_and_typography_become_commands():
    assert escape(f"\u03b1 = {MINUS}0.5 \N{EN DASH} 40\N{NO-BREAK SPACE}%") == (
        r"\ensuremath{\alpha} = \ensuremath{-}0.5 \textendash{} 40~\%"
    )
    assert is_latin("Café \u2013 \u03b1 ≤ 0.5 “x”")
    assert not is_latin("中文")


def table(rows=2, **options):
    build = Builder("Share of *x*, in %.", columns(["System", "Share & more", "n", "p"]), **options)
    build.add(
        head("as_pen"),
        build.share(estimate(0.4024, 0.2929, 0.5122)),
        build.n(estimate(1, n=1234)),
        build.p(0.04),
    )
    for _ in range(rows - 1):
        build.add(
            head("birch"),
            build.share(estimate(None, undefined="No item has a majority.")),
            build.n(estimate(1, n=7, left_out=3)),
            build.p(1e-9),
        )
    return build.build()


def test_a_table_has_columns_for_siunitx_and_its_interval_in_brackets():
    text = latex_table(table())
    assert r"\begin{tabular}{@{}lS[table-format=2.1" in text
    assert r"as\_pen & 40.2 & {[}29.3, 51.2] & 1234 &" in text
    assert r"{\textendash\textsuperscript{1}}" in text
    assert r"\multicolumn{2}{c}{Share \& more}" in text
    assert r"\textsuperscript{1} No item has a majority." in text
    assert r"In brackets: 95\,\% intervals." in text
    for rule in ("toprule", "midrule", "bottomrule"):
        assert text.count(rf"\{rule}") == 1
    # Nothing stands beside a command that begins or ends a part: it would be printed in the paper.
    assert [line for line in text.splitlines() if re.search(r"\\end\{\w+\}.", line)] == []


def test_a_negative_figure_widens_its_column():
    build = Builder("", columns(["A", "B"]))
    build.add(head("x"), build.coefficient(estimate(-0.25)))
    build.add(head("y"), build.coefficient(estimate(12.5)))
    text = latex_table(build.build())
    assert "S[table-format=-2.2]" in text
    assert "x & -0.25" in text


def test_a_long_table_breaks_between_pages():
    text = latex_table(table(MOST_ROWS + 1))
    assert r"\begin{longtable}" in text
    assert r"\begin{table}" not in text
    assert text.count(r"\endhead") == 1


def test_a_table_too_wide_to_read_is_set_in_parts_that_each_name_their_rows():
    names = [f"category {at}" for at in range(40)]
    build = Builder("By category.", columns(["System", *names]))
    for system in ("aspen", "birch"):
        build.add(head(system), *(build.share(estimate(at / 100, 0.1, 0.9)) for at in range(40)))
    text = latex_table(replace(build.build(), key="wide"))
    parts = text.split(r"\begin{table}")[1:]
    assert len(parts) > 1
    assert is_nested(text)
    for number, part in enumerate(parts, 1):
        assert f"By category. Part {number} of {len(parts)}." in part
        assert re.findall(r"^(aspen|birch) &", part, re.MULTILINE) == ["aspen", "birch"]
    shown = re.findall(r"& (\d+)\.0 & \{\[\}10\.0", text)
    assert sorted(map(int, shown)) == sorted([*range(40), *range(40)])
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert labels[0] == "tab:wide"
    assert len(set(labels)) == len(parts)


def of_columns(number, name="aspen", rows=1):
    build = Builder("By category.", columns(["System", *(f"c{at}" for at in range(number))]))
    for at in range(rows):
        build.add(head(f"{name} {at}"), *(build.share(estimate(0.5, 0.1, 0.9)) for _ in range(number)))
    return latex_table(build.build())


def sizes(text):
    return re.findall(r"^\\(small|footnotesize|scriptsize|tiny)\b", text, re.M)


def test_type_gets_smaller_only_where_a_table_would_not_fit():
    assert [sizes(of_columns(number)) for number in (2, 5, 6, 7)] == [
        ["small"], ["small"], ["footnotesize"], ["tiny"],
    ]  # fmt: skip
    assert sizes(of_columns(8)) == ["footnotesize", "small"], "in parts"


def test_long_names_are_set_in_lines_before_type_gets_small():
    name = "a system that has a rather long name, as its authors gave it"
    text = of_columns(3, name)
    assert sizes(text) == ["small"]
    assert r"p{14.1em}" in text
    assert r"p{" not in of_columns(3)


def test_a_long_table_of_long_names_is_no_wider_than_the_line():
    """A longtable can't be shrunk: what is left of a line for its names is what they get."""
    text = of_columns(6, "Worker with a long name", rows=MOST_ROWS + 1)
    assert r"\begin{longtable}" in text
    assert sizes(text) == ["scriptsize"]
    (names,) = re.findall(r"p\{([\d.]+)em\}", text)
    assert float(names) < text_width("Worker with a long name 10")


def test_a_long_table_s_caption_is_not_in_its_small_type():
    text = latex_table(table(MOST_ROWS + 1))
    assert text.index(r"\normalsize") < text.index(r"\small") < text.index(r"\caption")


def test_an_interval_stays_on_one_line_and_words_beside_a_figure_may_not():
    build = Builder("", columns(["System", "One", "Two", "Three", "n"]))
    remark = TableCell("120", "of which a good many were not included")
    build.add(head("aspen"), *[build.share(estimate(0.5, 0.1, 0.9))] * 3, remark)
    text = latex_table(build.build())
    assert text.count("@{~}l") == 3
    assert text.count(r"@{~}>{\raggedright\arraybackslash}p{") == 1


@pytest.mark.parametrize(
    ("text", "ems"),
    [("0.50", 1.778), ("Worker", 3.283), ("\N{LATIN SMALL LETTER E WITH ACUTE}", 0.444), ("\u4e2d", 1)],
)
def test_widths_are_those_of_the_face(text, ems):
    assert text_width(text) == pytest.approx(ems, abs=0.002)


@given(st.lists(TEXT, min_size=3, max_size=3), st.sampled_from([1, MOST_ROWS + 1]))
def test_no_name_breaks_a_table(texts, rows):
    name, caption, note = texts
    build = Builder(caption, columns([name, caption, note]), foot=note)
    for _ in range(rows):
        build.add(
            head(name, note, caption), words(name, note), TableCell(note, "1 to 2; 3", build.note(name))
        )
    text = latex_table(build.build())
    assert is_balanced(text)
    assert is_nested(text)
    body = text.split(r"\midrule")[1].split(r"\bottomrule")[0].split(r"\endfirsthead")[0]
    for row in body.strip().splitlines():
        # Name and detail, tag, figure and detail.
        assert row.startswith(r"\addlinespace") or len(re.findall(r"(?<!\\)&", row)) in (2, 3, 4)
        assert row.endswith((r"\\", r"\addlinespace", r"\endhead", r"\endfoot", r"\endfirsthead"))


def test_a_csv_has_the_limits_and_the_reasons_in_columns_of_their_own():
    (header, first, second) = csv.reader(io.StringIO(table_csv(table())))
    assert header == [
        "System", "Share & more", "Share & more: low", "Share & more: high", "Share & more: note", "n", "n: note", "p",
    ]  # fmt: skip
    assert first == ["as_pen", "40.2", "29.3", "51.2", "", "1234", "", "0.040"]
    assert second == ["birch", "", "", "", "No item has a majority.", "7", "3 not included", "<0.001"]


def test_a_spanned_name_stands_in_each_row_of_a_csv():
    build = Builder("", columns(["Pair", "n"]))
    for n in (1, 2):
        build.add(head("a vs b"), TableCell(f"{MINUS}{n}"))
    assert table_csv(build.build()).split() == ["Pair,n", "a", "vs", "b,-1", "a", "vs", "b,-2"]


@given(st.lists(TEXT, min_size=2, max_size=2))
def test_a_csv_is_read_back_and_runs_nothing(texts):
    name, caption = texts
    build = Builder("", columns([name, caption]))
    build.add(head(name), TableCell(caption))
    rows = list(csv.reader(io.StringIO(table_csv(build.build()), newline="")))
    assert len({len(row) for row in rows}) == 1
    for cell in (cell for row in rows for cell in row):
        assert not cell.startswith(("=", "+", "@"))
        assert not cell.startswith("-") or float(cell) <= 0


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,234", "1234"),
        (f"{MINUS}0.50", "-0.50"),
        ("<\N{THIN SPACE}0.001", "<0.001"),
        ("1,2", ""),
        ("n/a", ""),
        ("", ""),
    ],
)
def test_figures_as_programs_read_them(text, number):
    assert plain_number(text) == number


def test_an_empty_table_is_one_too():
    assert is_balanced(latex_table(Table("Nothing.", tuple(columns(["A", "B"])), ())))

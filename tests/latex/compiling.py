"""Reports as LaTeX, compiled: the document, every table by itself, and text that would break either.

Not among the tests of every change: `python -m tests.latex.audit` runs them (`make audit`), with a LaTeX installed.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from django.core.management import call_command

from analytics.display.plot_files import plot_files
from analytics.display.tables import Builder, columns, head, words
from analytics.reports.build import build_report
from analytics.reports.paper.archive import plot_paths, plots_of, tables_of
from analytics.reports.paper.latex import report_latex
from analytics.reports.paper.latex_table import PACKAGES, latex_table
from evaluation.models import Study
from judging.management.entry_tables import item_tables
from judging.services.scored_entries import ScoredEntries, ScoredEntry, ScoredItem
from tests.analytics.reports import goldens
from tests.analytics.reports.test_latex import HOSTILE
from tests.published import published_data

pytestmark = pytest.mark.django_db
SEEN = Path(os.environ.get("ASSAY_LATEX_AUDIT", "var/latex"))


def lfqa_release():
    call_command("import_published", "lfqa", str(published_data("lfqa")), slug="lfqa", verbosity=0)
    return Study.objects.get(slug="lfqa")


# The LFQA and PandaLM releases where they are, and two studies of contexts: one drawn, one of the demo.
STUDIES = {
    "lfqa": lambda tmp_path: lfqa_release(),
    **{name: goldens.MAKERS[name] for name in ("pandalm", "paired", "demo context-contrast")},
}
# In points; a line may stick out by less than anybody sees.
MOST_OVERFULL = 5.0


def compile_tex(name, text, engine="pdflatex", files=None):
    """The log of the second run; the folder with the PDF is kept."""
    folder = SEEN / name
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "plots").mkdir(parents=True)
    (folder / "report.tex").write_text(text, encoding="utf-8")
    for path, content in (files or {}).items():
        (folder / path).write_bytes(content)
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    for _ in range(3):
        ended = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log = ended.stdout.decode("utf-8", "replace")
    assert ended.returncode == 0, log[-3000:]
    return log


def too_wide(log):
    found = (float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\)", log))
    return [points for points in found if points > MOST_OVERFULL]


@pytest.mark.parametrize("name", STUDIES)
def test_a_report_compiles_and_nothing_sticks_out(name, tmp_path):
    report = build_report(STUDIES[name](tmp_path))
    plots = {plot_paths(plot)["pdf"]: plot_files(plot)["pdf"] for plot in plots_of(report)}
    text = report_latex(report)
    log = compile_tex(name.replace(" ", "-"), text, files=plots)
    assert too_wide(log) == []
    assert "undefined references" not in log
    assert "multiply defined" not in log
    unshrunk = re.sub(r"\\(?:begin|end)\{adjustbox\}(?:\{max width=\\linewidth\})?", "", text)
    assert unshrunk != text
    # Where `adjustbox` would have shrunk a table, it is set smaller than its type says.
    assert too_wide(compile_tex("unshrunk", unshrunk, files=plots)) == []
    shutil.rmtree(SEEN / "unshrunk")


def test_every_table_is_read_in_by_a_paper_of_another_look(tmp_path):
    report = build_report(goldens.MAKERS["paired"](tmp_path))
    tables = {f"plots/{table.key}.tex": latex_table(table).encode() for table in tables_of(report)}
    inputs = "\n".join(rf"\input{{{path}}}" for path in tables)
    text = "\n".join(
        [
            r"\documentclass[10pt,twocolumn]{article}",
            rf"\usepackage{{{','.join(PACKAGES)}}}",
            rf"\begin{{document}}{inputs}\end{{document}}",
        ]
    )
    compile_tex("tables", text, files=tables)


def scored_entries():
    """Ten queries with a condition of each hostile text, which is long enough to be broken into lines."""
    return ScoredEntries(
        "llm",
        tuple(
            ScoredItem(
                f"i{at}",
                f"q{at}",
                f"What is {text}?",
                "main",
                "Main",
                (f"For readers of {text}", "As a drink for adults who live in the south"),
                tuple(
                    ScoredEntry(
                        f"s_{place}", f"r{place}", 1, f"Late in the day, {text}", place, 0.3, 0.8, 0.5, 1
                    )
                    for place in (1, 2)
                ),
                ("s_3",),
            )
            for at, text in enumerate(HOSTILE)
        ),
        {},
        (),
    )


def test_scores_of_single_entries_compile():
    found, labels = scored_entries(), {"s_1": "The first & best", "s_2": "The second_one"}
    body = "\n".join(map(latex_table, item_tables(found, labels)))
    text = "\n".join(
        [
            r"\documentclass[11pt]{article}",
            rf"\usepackage{{{','.join(PACKAGES)}}}",
            rf"\begin{{document}}{body}\end{{document}}",
        ]
    )
    assert too_wide(compile_tex("entry-scores", text, "lualatex")) == []


@pytest.mark.parametrize("engine", ["pdflatex", "lualatex"])
def test_text_of_any_script_and_of_any_intent_compiles(engine, tmp_path):
    if shutil.which(engine) is None:
        pytest.skip(f"{engine} is not installed")
    report = build_report(goldens.MAKERS["paired"](tmp_path))
    report["study"]["title"] = " ".join(HOSTILE)
    build = Builder(" ".join(HOSTILE), columns(["Name", *HOSTILE[:4]]), foot=" ".join(HOSTILE))
    for each in HOSTILE:
        build.add(head(each), *(words(each) for _ in range(4)))
    table = latex_table(build.build())
    text = report_latex(report).replace(r"\end{document}", f"{table}\n\\end{{document}}")
    compile_tex(f"hostile-{engine}", text, engine)

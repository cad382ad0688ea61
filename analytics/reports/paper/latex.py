"""A report as one LaTeX document, from the same view model as the page.

It compiles by itself; beside it, in `plots`, it finds the plots' PDFs, as they lie in the archive of everything.
"""

from collections.abc import Iterator

from analytics.display.blocks import Block, Plot, ReportPage, Section
from analytics.display.numbers import ended
from analytics.figures.document import ReportRecord
from analytics.reports.page import report_page
from analytics.reports.paper.citation import HASH_LETTERS
from analytics.reports.paper.latex_table import latex_table
from analytics.reports.paper.latex_text import escape
from evaluation.facts import Fact

# Where an undefined letter is met pdfLaTeX would stop; it prints the letter's number instead.
PREAMBLE = r"""% Compile with pdfLaTeX, LuaLaTeX or XeLaTeX, twice (Debian: texlive-latex-extra, texlive-science).
% pdfLaTeX has Latin letters only and prints the code points of all others, as in [U+4E2D]. For texts in another script
% use LuaLaTeX or XeLaTeX (texlive-luatex, texlive-xetex) and name a font that has it: \setmainfont{Noto Serif}.
\documentclass[11pt,a4paper]{article}
\usepackage[margin=2.2cm]{geometry}
\usepackage{iftex}
\ifPDFTeX
  \usepackage[T1]{fontenc}
  \usepackage[utf8]{inputenc}
  \usepackage{lmodern}
  \makeatletter
  \def\reportcode#1:#2\relax{[\expandafter\UTFviii@hexcodepoint\expandafter{\the\numexpr\decode@UTFviii#2\relax}]}
  \renewcommand{\UTFviii@undefined@err}[1]{\expandafter\reportcode\string#1\relax}
  \makeatother
\else
  \usepackage{fontspec}
\fi
\usepackage{textcomp}
\usepackage{array,booktabs,longtable,siunitx}
\usepackage{graphicx,adjustbox}
\usepackage{float,needspace}
\sisetup{group-digits=integer,group-minimum-digits=4,group-separator={,},table-align-text-post=false}
\setlength{\emergencystretch}{10em}
\setlength{\belowcaptionskip}{6pt}
\floatplacement{table}{H}
\floatplacement{figure}{H}
\newcommand{\reportplot}[1]{\IfFileExists{plots/#1.pdf}%
  {\adjustbox{max width=\linewidth,max totalheight=.85\textheight}{\includegraphics{plots/#1.pdf}}}%
  {\framebox{\texttt{plots/\detokenize{#1}.pdf}}}}
"""
# Lines that a heading needs below it on its page; a section's has that of its first block among them.
SECTION_LINES, BLOCK_LINES = 14, 9


def report_latex(report: ReportRecord) -> str:
    """The whole report as a document that ends with a newline."""
    return PREAMBLE + "\n" + "\n\n".join(_document(report_page(report), report)) + "\n"


def _document(page: ReportPage, report: ReportRecord) -> Iterator[str]:
    yield rf"\title{{{escape(page.title)}: report}}"
    yield (
        rf"\author{{Study hash \texttt{{{report['study']['study_hash'][:HASH_LETTERS]}}}}}"
        + "\n"
        + r"\date{}"
    )
    yield "\\begin{document}\n\\maketitle"
    for said in filter(None, (page.view, page.notice)):
        yield rf"\noindent\fbox{{\parbox{{.97\linewidth}}{{{escape(said)}}}}}"
    yield from _facts(page.leading if page.others else "", page.facts)
    for summary in page.others:
        yield from _facts(summary.label, summary.facts)
    for finding in page.findings:
        heading = ended(finding.title)
        yield rf"\paragraph{{{escape(heading)}}} {escape(finding.text)}"
    for section in page.sections:
        yield from section_latex(section)
    # A hash is never broken, so that a line may have to end long before it.
    yield rf"\section{{Citation}}{{\raggedright\noindent {escape(page.citation)}\par}}"
    yield r"\end{document}"


def _facts(label: str, facts: tuple[Fact, ...]) -> Iterator[str]:
    if label:
        yield rf"\paragraph{{{escape(label)}}}\mbox{{}}"
    items = (
        rf"\item[{{{escape(fact.name)}}}] {escape(fact.value)} ({escape(fact.detail)})"
        f"{f' {{[}}{escape(fact.tag)}]' if fact.tag else ''}"
        for fact in facts
    )
    yield "\n".join([r"\begin{description}", *items, r"\end{description}"])


def section_latex(section: Section) -> Iterator[str]:
    """Its paragraphs, tables and plots."""
    yield _room(SECTION_LINES) + rf"\section{{{escape(section.title)}}}\label{{sec:{section.key}}}"
    if section.intro:
        yield escape(section.intro)
    for at, block in enumerate(section.blocks):
        # Right after the section's heading the page must not break, which asking for room allows.
        yield from _block(block, room=bool(at or section.intro))


def _room(lines: int) -> str:
    """A page break unless so many lines fit: a long table may break right after a heading."""
    return rf"\Needspace{{{lines}\baselineskip}}" + "\n"


def _block(block: Block, *, room: bool) -> Iterator[str]:
    if block.heading:
        yield (_room(BLOCK_LINES) if room else "") + rf"\subsection{{{escape(block.heading)}}}"
    if len(block.text) > 1:
        items = (rf"\item {escape(sentence)}" for sentence in block.text)
        yield "\n".join([r"\begin{itemize}", *items, r"\end{itemize}"])
    elif block.text:
        yield escape(block.text[0])
    for table in block.tables:
        yield latex_table(table).rstrip()
    if block.plot:
        yield _plot(block.plot)


def _plot(plot: Plot) -> str:
    return "\n".join(
        [
            r"\begin{figure}",
            r"\centering",
            rf"\reportplot{{{plot.key}}}",
            rf"\caption{{{escape(plot.full_caption)}}}\label{{fig:{plot.key}}}",
            r"\end{figure}",
        ]
    )

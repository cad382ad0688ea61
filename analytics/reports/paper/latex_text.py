"""Text as LaTeX prints it, whatever is in it.

Every character of LaTeX's syntax becomes a command, every ligature is broken, and mathematical signs that reports use
become formulas, so that pdfLaTeX prints them too. Letters of other scripts stay as they are: LuaLaTeX and XeLaTeX
print them in a font that has them; under pdfLaTeX the report's preamble prints their code points.
"""

import re

from analytics.display.characters import one_line

COMMANDS = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "`": r"\textasciigrave{}",
    **{each: f"\\{each}" for each in "#$%&_"},
    # After the end of a row these would be its options.
    "[": "{[}",
    "*": "{*}",
    "\N{NO-BREAK SPACE}": "~",
    "\N{THIN SPACE}": r"\,",
    "\N{NARROW NO-BREAK SPACE}": r"\,",
    "\N{EN DASH}": r"\textendash{}",
    "\N{EM DASH}": r"\textemdash{}",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    "\N{LEFT DOUBLE QUOTATION MARK}": r"\textquotedblleft{}",
    "\N{RIGHT DOUBLE QUOTATION MARK}": r"\textquotedblright{}",
    "\N{LEFT SINGLE QUOTATION MARK}": r"\textquoteleft{}",
    "\N{RIGHT SINGLE QUOTATION MARK}": r"\textquoteright{}",
}
FORMULAS = {
    "\N{MINUS SIGN}": "-",
    "\N{MULTIPLICATION SIGN}": r"\times",
    "\N{LESS-THAN OR EQUAL TO}": r"\leq",
    "\N{GREATER-THAN OR EQUAL TO}": r"\geq",
    "\N{NOT EQUAL TO}": r"\neq",
    "\N{ALMOST EQUAL TO}": r"\approx",
    "\N{PLUS-MINUS SIGN}": r"\pm",
    "\N{LEFTWARDS ARROW}": r"\leftarrow",
    "\N{RIGHTWARDS ARROW}": r"\rightarrow",
    "\N{INFINITY}": r"\infty",
    "\N{GREEK SMALL LETTER ALPHA}": r"\alpha",
    "\N{GREEK SMALL LETTER BETA}": r"\beta",
    "\N{GREEK SMALL LETTER EPSILON}": r"\epsilon",
    "\N{GREEK SMALL LETTER ETA}": r"\eta",
    "\N{GREEK SMALL LETTER KAPPA}": r"\kappa",
    "\N{GREEK SMALL LETTER LAMDA}": r"\lambda",
    "\N{GREEK SMALL LETTER RHO}": r"\rho",
    "\N{GREEK SMALL LETTER SIGMA}": r"\sigma",
    "\N{GREEK SMALL LETTER TAU}": r"\tau",
    "\N{GREEK SMALL LETTER CHI}": r"\chi",
    "\N{GREEK SMALL LETTER OMEGA}": r"\omega",
    "\N{GREEK CAPITAL LETTER DELTA}": r"\Delta",
    **{each: f"_{at}" for at, each in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    **{each: f"^{at}" for at, each in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
}
PRINTED = str.maketrans(COMMANDS | {each: rf"\ensuremath{{{formula}}}" for each, formula in FORMULAS.items()})
# Two in a row that a font would draw as one, as -- and ?`; the backquote is a command already.
LIGATURES = re.compile(r"(?<=-)(?=-)|(?<=')(?=')|(?<=,)(?=,)")


def escape(text: str) -> str:
    """The text, printed as it reads, on one line and with every brace closed."""
    return LIGATURES.sub("{}", one_line(text).translate(PRINTED))


def is_latin(text: str) -> bool:
    """True if pdfLaTeX prints the text in its common fonts: what is left of it after `escape` is Latin."""
    return all(ord(each) < 0x180 for each in escape(text))

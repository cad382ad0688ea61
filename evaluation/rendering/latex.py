"""LaTeX as MathML that needs no style: what can't be converted, or could take too much of the machine, is None."""

import re

from math_core import LatexError, LatexToMathML

# Characters of one formula, and how deep its parts may stand in one another: the converter descends by recursion.
MAX_LENGTH = 4_000
MAX_DEPTH = 200
# Of the converter's own shorthands. Formulas that define commands of their own are left as they are.
MAX_EXPANSIONS = 1_000
DEFINING = re.compile(
    r"\\(?:[gex]?def|(?:future)?let|(?:re)?newcommand|providecommand|Declare[A-Za-z]*|newenvironment)(?![A-Za-z])"
)
SHORTHANDS = {
    "mbox": r"\text{#1}",
    "substack": r"\begin{matrix}#1\end{matrix}",
    "hdots": r"\ldots",
    "nicefrac": r"{#1}/{#2}",
}
# Environments under the name by which the converter knows them. Formulas are numbered by their own tags only.
ENVIRONMENTS = {
    "split": "aligned", "smallmatrix": "matrix", "align": "align*", "equation": "equation*", "gather": "gather*",
    "alignat": "alignat*", "multline": "multline*", "eqnarray": "align*", "eqnarray*": "align*",
}  # fmt: skip
_environment = re.compile(r"\\(begin|end)\{([a-z]+\*?)\}")
_taggable = re.compile(r"\\begin\{(?:equation|align|alignat|gather|multline)\*?\}")
_text = re.compile(r"\\text\{([^{}]*\$[^{}]*)\}")
_nesting = re.compile(r"\\(?:begin|left|begingroup|bgroup)(?![A-Za-z])|\{")
_closing = re.compile(r"\\(?:end|right|endgroup|egroup)(?![A-Za-z])|\}")
_tokens = re.compile(r"\\[A-Za-z]+|\\.|[{}&\[]", re.DOTALL)

_converter = LatexToMathML(macros=SHORTHANDS, max_expansions=MAX_EXPANSIONS, fancy_error=False)


def to_mathml(source: str, *, display: bool) -> str | None:
    """MathML of a formula, without its delimiters; None where it is no LaTeX that is known here."""
    if (
        not source.strip()
        or len(source) > MAX_LENGTH
        or DEFINING.search(source)
        or _depth(source) > MAX_DEPTH
    ):
        return None
    prepared = _environment.sub(_rename, _text.sub(_split_text, source))
    if "\\tag" in prepared and not _taggable.search(prepared):
        prepared = f"\\begin{{equation*}}{prepared}\\end{{equation*}}"
    try:
        return _without_styles(_converter.convert_with_local_state(prepared, displaystyle=display))
    except LatexError:
        return None


def _depth(source: str) -> int:
    """No less than the depth to which the converter descends: groups, and in each the commands that may take what
    follows as their argument."""
    levels = [0]
    deepest = 0
    for match in _tokens.finditer(source):
        token = match.group()
        if _closing.match(token):
            if len(levels) > 1:
                levels.pop()
        elif token in ("&", "\\\\"):
            levels[-1] = 0
        else:
            levels[-1] += 1
            deepest = max(deepest, sum(levels))
            if _nesting.match(token):
                levels.append(0)
    return deepest


def _rename(match: re.Match[str]) -> str:
    name = match[2]
    return f"\\{match[1]}{{{ENVIRONMENTS.get(name, name)}}}"


def _split_text(match: re.Match[str]) -> str:
    """Formulas inside of text stand beside it: \\text{if $x$} is text and x."""
    parts = match[1].split("$")
    if len(parts) % 2 == 0:
        return match[0]
    return "{" + "".join(part if n % 2 else f"\\text{{{part}}}" for n, part in enumerate(parts) if part) + "}"


# --- styles, which the page's policy forbids, as classes ---------------------------------------------------------
CLASS_OF_STYLE = {
    "text-align: left": "to-left",
    "text-align: right": "to-right",
    "padding-left: 0": "no-left",
    "padding-right: 0": "no-right",
    "border-right: 0.05em solid": "line-right",
    "border-right: 0.05em dashed": "line-right",
    "border-left: 0.05em solid": "line-left",
    "border-left: 0.05em dashed": "line-left",
    "border-top: 0.05em solid": "line-top",
    "border-top: 0.05em dashed": "line-top",
    "border-bottom: 0.05em solid": "line-bottom",
    "border-bottom: 0.05em dashed": "line-bottom",
    "width: 50%": "aside",
    "width: 100%": "tagged",
}
BOXED, STRUCK = "boxed", "struck"
CLASSES = {*CLASS_OF_STYLE.values(), BOXED, STRUCK}
_style = re.compile(r' style="([^"]*)"')
_enclosed = re.compile(r'<menclose notation="([^"]*)">')
_drawn = re.compile(r'<mrow class="menclose-[^"]*"></mrow>')


def _without_styles(mathml: str) -> str:
    """Give a class to all that no browser draws alike without a style; colours and negative spaces go."""
    classed = _style.sub(_as_classes, _drawn.sub("", mathml))
    return _enclosed.sub(_as_row, classed).replace("</menclose>", "</mrow>")


def _as_row(match: re.Match[str]) -> str:
    return f'<mrow class="{BOXED if match[1] == "box" else STRUCK}">'


def _as_classes(match: re.Match[str]) -> str:
    names = [name for style, name in CLASS_OF_STYLE.items() if style in match[1]]
    return f' class="{" ".join(names)}"' if names else ""

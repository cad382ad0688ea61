"""Templates that can be read: lines of at most 120 columns, and the variables of every partial named at its top.

Of a line a translated sentence does not count: to break it would change the words that translators know. Nor does what
stands in <pre>, which is shown as it stands.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

COLUMNS = 120
SENTENCE = 40
TRANSLATED = re.compile(
    r"""\{% translate (?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')[^%]*%\}"""
    r"""|\{% blocktranslate\b.*?\{% endblocktranslate %\}"""
)
TAG = re.compile(r"\{([%{])-?\s*(.*?)\s*[%}]\}")
HEADER = re.compile(r"\A(?:\{#[^\n]*#\}\n)*")
BINDS = re.compile(r"\bfor (?P<loop>[\w, ]+) in\b|\b(?:as|asvar) (?P<alias>\w+)|\b(?P<key>\w+)=")
LITERAL = re.compile(r"\"[^\"]*\"|'[^']*'|\.\w+|\|\w+|\b\d+\b|\b\w+=")
# Words of Django's tags, and what it brings into every template.
GIVEN = set(
    re.findall(
        r"\w+",
        "and or not in is if elif for with as asvar by only reversed count trimmed regroup cycle firstof include url "
        "static counted translate blocktranslate plural ifchanged else empty True False None forloop block",
    )
)
NO_VARIABLES = re.compile(
    r"(end\w+|else|empty|plural|load|localize|comment|fixed|judged|csrf_token|htmx_script|block|extends)\b"
)


def long_lines(text: str) -> Iterator[tuple[int, int]]:
    inside_pre = False
    for number, line in enumerate(text.splitlines(), 1):
        inside_pre = inside_pre or "<pre" in line
        sentences = [len(found[0]) for found in TRANSLATED.finditer(line) if len(found[0]) >= SENTENCE]
        counted = len(line) - max(sentences, default=0)
        if counted > COLUMNS and not inside_pre:
            yield number, counted
        inside_pre = inside_pre and "</pre>" not in line


def unnamed(text: str) -> list[str]:
    """The variables that a partial reads, but neither binds nor names at its top."""
    header = HEADER.match(text)
    top = header[0] if header else ""
    if "{# variables:" not in top:
        return ["variables"]
    read: set[str] = set()
    bound: set[str] = set()
    for kind, inside in TAG.findall(text):
        if kind == "%" and NO_VARIABLES.match(inside):
            continue
        for found in BINDS.finditer(inside):
            bound.update(re.findall(r"\w+", found["loop"] or found["alias"] or found["key"]))
        for name in re.split(r"\W+", LITERAL.sub(" ", inside)):
            read.add(name)
    known = GIVEN | bound | set(re.findall(r"\w+", top)) | {""}
    return sorted(read - known)


def problems(root: Path) -> Iterator[str]:
    for path in sorted(root.rglob("*.html")):
        text = path.read_text()
        for number, columns in long_lines(text):
            yield f"{path}:{number}: {columns} columns, of at most {COLUMNS}"
        if path.name.startswith("_") and (names := unnamed(text)):
            yield f"{path}:1: {{# variables: ... #}} at the top does not name {', '.join(names)}"


def main() -> int:
    found = [line for root in sys.argv[1:] for line in problems(Path(root))]
    print("\n".join(found) if found else "Templates: every line and every header is in order.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

"""Code in colours, as classes: by the language that the text names, never by a guess."""

import html
from functools import cache
from typing import Any

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES

# Longer code is shown plain, and so is code in any other language: some lexers can be kept busy for hours.
MAX_LENGTH = 30_000
LANGUAGES = {
    "bash", "c", "c#", "c++", "cpp", "csharp", "cs", "css", "dart", "diff", "docker", "dockerfile", "elixir", "go",
    "golang", "graphql", "haskell", "hs", "html", "ini", "java", "javascript", "js", "json", "jsx", "julia", "kotlin",
    "latex", "lua", "matlab", "nginx", "objective-c", "ocaml", "perl", "php", "powershell", "py",
    "python", "python3", "r", "rb", "ruby", "rs", "rust", "scala", "sh", "shell", "sql", "swift", "tex", "toml", "ts",
    "tsx", "typescript", "xml", "yaml", "yml", "zsh",
}  # fmt: skip


def highlight(code: str, language: str) -> str:
    """HTML of the code's text, with a span around each token that has a class."""
    name = language.lower()
    if name not in LANGUAGES or len(code) > MAX_LENGTH:
        return html.escape(code)
    parts = ((kind, text) for _, kind, text in _lexer(name).get_tokens_unprocessed(code))
    return "".join(_formatted(kind, text) for kind, text in parts)


@cache
def _lexer(name: str) -> Lexer:
    return get_lexer_by_name(name)


def _formatted(kind: Any, text: str) -> str:
    name = "" if text.isspace() else STANDARD_TYPES.get(kind, "")
    return f'<span class="{name}">{html.escape(text)}</span>' if name else html.escape(text)

"""An app more, for the time of a test."""

from collections.abc import Callable
from typing import Any

from evaluation import extension
from evaluation.extension import Extension, extensions


def extend(monkeypatch: Any, *, alone: bool = False, **methods: Callable[..., Any]) -> None:
    """With an extension that has these methods; `alone`: the others don't have them."""
    made = type("OneMore", (Extension,), {name: _method(each) for name, each in methods.items()})
    nothing = {name: vars(Extension)[name] for name in methods} if alone else {}
    others = [type("Quieter", (type(each),), nothing)() for each in extensions()]
    monkeypatch.setattr(extension, "_loaded", (*others, made()))


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *given: function(*given)

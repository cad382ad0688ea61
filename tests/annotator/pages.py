"""A participant's form as a browser without scripts reads it off the page and sends it."""

from html.parser import HTMLParser
from typing import Any

LONG = "It says what was asked, and it says why."


class Form(HTMLParser):
    """The fields of the form `judge`: what would be sent as it stands, and what else could be chosen."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.sent: dict[str, str] = {}
        self.choices: dict[str, list[str]] = {}
        self.boxes: dict[str, str] = {}
        self.texts: list[str] = []
        self.selects: dict[str, list[str]] = {}
        self._inside, self._aside, self._text, self._select, self._option = False, 0, "", "", ""
        self.feed(page)

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        attributes: dict[str, Any] = dict(given)
        if tag == "form":
            self._inside = attributes.get("id") == "judge"
        self._aside += tag == "template"
        name = attributes.get("name")
        if not self._inside or self._aside:
            return
        if tag == "option" and self._select:
            self._option = "selected" if "selected" in attributes else "option"
        if not name:
            return
        if tag == "textarea":
            self._text = name
            self.texts.append(name)
            self.sent[name] = ""
        elif tag == "select":
            self._select = name
            self.selects[name] = []
        elif tag == "input":
            self._input(name, attributes)

    def _input(self, name: str, attributes: dict[str, Any]) -> None:
        kind, value = attributes.get("type", "text"), attributes.get("value", "on")
        if kind == "radio":
            self.choices.setdefault(name, []).append(value)
        elif kind == "checkbox":
            self.boxes[name] = value
        if kind not in ("radio", "checkbox") or "checked" in attributes:
            self.sent[name] = value

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = False
        self._aside -= tag == "template"
        if tag == "select" and self._select:
            options = self.selects[self._select]
            self.sent.setdefault(self._select, options[0] if options else "")
            self._select = ""
        if tag == "textarea" and self._text:
            self.sent[self._text] = self.sent.get(self._text, "").removeprefix("\n")
            self._text = ""

    def handle_data(self, data: str) -> None:
        if self._option:  # without a value of its own, as here all are
            self.selects[self._select].append(data.strip())
            if self._option == "selected":
                self.sent[self._select] = data.strip()
            self._option = ""
        if self._text and self._inside and not self._aside:
            self.sent[self._text] += data

    def filled_in(self) -> dict[str, str]:
        """A complete form: the first of all choices, a reason for every text, an order that is confirmed."""
        sent = dict(self.sent)
        for name, values in self.choices.items():
            sent[name] = values[0]
        for name in self.texts:
            # Of a set that begins with nothing, an entry is written.
            if "." not in name or (name.endswith((".e1.condition", ".e1.answers")) and not sent[name]):
                sent[name] = LONG
        for name, value in self.boxes.items():
            # The checks of a set hold; of a codebook none does.
            is_none = name.endswith(".~none")
            if name.endswith(".confirmed") or is_none is not name.startswith("checks."):
                sent[name] = value
        return sent

"""Rendering within a time box, in a process of its own that can be ended.

A pathological text may keep any Markdown parser busy for minutes; a thread can't be stopped and an alarm works
in the main thread only. So long texts go to a child process over a pipe; when it does not answer in time it is
ended, the text is shown plain and the next one gets a new child. Short texts can't take long and stay here.
"""

import json
import math
import os
import select
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self

from evaluation.rendering.markdown import render_markdown, render_plain
from evaluation.rendering.rules import DEFAULT_RULES, RenderRules

# Of 3,000 hostile texts of this length, none took more than an eighth of a second; code that is coloured may.
SHORT = 2_000
# For all texts of a page that somebody waits for.
PAGE_SECONDS = 5.0
FENCES = ("```", "~~~")
# Starting Python and importing the renderer; not part of a text's own time.
START_SECONDS = 30.0
ROOT = Path(__file__).resolve().parent.parent.parent


class RenderBox:
    """A renderer of Markdown that takes at most `seconds` per text and `total` seconds for all of them.

    Use as a context manager.
    """

    def __init__(self, seconds: float = 2.0, total: float = math.inf) -> None:
        self.seconds = seconds
        self.fallbacks = 0
        self._left = total
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end_child()

    def render(self, text: str, rules: RenderRules = DEFAULT_RULES) -> str:
        """The text as safe HTML; plain, and counted in `fallbacks`, if Markdown takes too long."""
        begun = time.monotonic()
        rendered = self._render(text, rules) if self._left > 0 else None
        self._left -= time.monotonic() - begun
        if rendered is None:
            self.fallbacks += 1
            return render_plain(text)
        return rendered

    def _render(self, text: str, rules: RenderRules) -> str | None:
        if len(text) <= SHORT and not any(fence in text for fence in FENCES):
            return render_markdown(text, rules)
        return self._ask_child(text, rules)

    def _ask_child(self, text: str, rules: RenderRules) -> str | None:
        child = self._child or self._start_child()
        assert child.stdin is not None
        try:
            child.stdin.write(json.dumps([text, asdict(rules)]).encode() + b"\n")
            child.stdin.flush()
            line = self._read_line(child, self.seconds)
        except OSError:
            line = None
        if line is None:
            self._end_child()
            return None
        return str(json.loads(line))

    def _start_child(self) -> subprocess.Popen[bytes]:
        self._child = subprocess.Popen(  # our own module under our own interpreter
            [sys.executable, "-m", "evaluation.rendering.child"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        if self._read_line(self._child, START_SECONDS) is None:
            raise RuntimeError("the rendering process did not start")
        return self._child

    @staticmethod
    def _read_line(child: subprocess.Popen[bytes], seconds: float) -> bytes | None:
        """A whole line, or None if it does not come in time or breaks off."""
        assert child.stdout is not None
        until = time.monotonic() + seconds
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([child.stdout], [], [], max(0.0, until - time.monotonic()))
            part = os.read(child.stdout.fileno(), 1 << 20) if ready else b""
            if not part:
                return None
            line += part
        return line

    def _end_child(self) -> None:
        if self._child is None:
            return
        self._child.kill()
        self._child.communicate()
        self._child = None

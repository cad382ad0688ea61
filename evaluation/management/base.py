"""The base of every command: it says what it did in words, or with --json as one document."""

import io
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from decimal import Decimal
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.operations.full_disk import is_full_disk
from evaluation.refusals import FieldsRefused, Refused

NO_ROOM = "The disk is full. Make room, then run this command again."
# Of a command that its parser turned away, as argparse has it.
USAGE_ERROR = 2

# What a command did or found, for programs.
Outcome = Mapping[str, Any]


class AssayCommand(BaseCommand):
    """A command writes words to `self.stdout`, and its `perform` returns the same as facts.

    With --json the facts are printed as one document, the words among them as `text`. Progress and warnings go to
    standard error, and so does an error, whose last line is a document of its own.
    """

    # Of a command that did its work and found something wrong.
    exit_code = 0
    # Of --json at the shell, where an error is printed as a document, too.
    from_script = False
    words: io.StringIO | None = None
    outcome: Outcome = {}

    def perform(self, options: dict[str, Any]) -> Outcome:
        raise NotImplementedError

    def handle(self, *args: Any, **options: Any) -> None:
        self.outcome = self.perform(options)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.add_argument("--json", action="store_true", help="print one JSON document instead of words")
        if self.from_script:
            # It raises then what is wrong with the arguments, instead of printing it.
            parser.called_from_command_line = False
        return parser

    def run_from_argv(self, argv: list[str]) -> None:
        self.from_script = "--json" in argv and "--traceback" not in argv
        try:
            super().run_from_argv(argv)
        except CommandError as error:
            if not self.from_script:
                raise
            self._print_error(error)
            sys.exit(USAGE_ERROR)

    def execute(self, *args: Any, **options: Any) -> str | None:
        self.outcome = {}
        if options.get("json"):
            self._execute_for_programs(*args, **options)
        else:
            self._execute(*args, **options)
        if self.exit_code:
            raise SystemExit(self.exit_code)
        return None

    def confirmed(self, question: str) -> bool:
        """Ask who sits at the terminal, on standard error; with what was said so far, where that is kept for later."""
        if self.words is not None:
            self.stderr.write(self.words.getvalue(), lambda text: text)
        with redirect_stdout(sys.stderr):
            return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")

    def _execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except CommandError:
            raise
        except Exception as error:
            if is_full_disk(error):
                raise CommandError("\n".join([NO_ROOM, *getattr(error, "__notes__", ())])) from error
            raise

    def _execute_for_programs(self, *args: Any, **options: Any) -> None:
        out: Any = options.pop("stdout", None) or self.stdout
        self.words = io.StringIO()
        try:
            self._execute(*args, stdout=self.words, **options)
        except CommandError as error:
            if not self.from_script:
                raise
            self._print_error(error)
            sys.exit(error.returncode)
        out.write(_document({**self.outcome, **self._text()}, indented=True) + "\n")

    def _text(self) -> dict[str, str]:
        said = self.words.getvalue().rstrip("\n") if self.words is not None else ""
        return {"text": said} if said else {}

    def _print_error(self, error: CommandError) -> None:
        """On one line, the last one of standard error; with what the command said before."""
        refused = _refusal_behind(error)
        by_field = refused.by_field if isinstance(refused, FieldsRefused) else {}
        fields = [{"field": name, "message": each} for name, all_ in by_field.items() for each in all_]
        message = str(error).removeprefix("Error: ")
        problems = message.splitlines() if refused is None else refused.problems
        problem = {"error": message, "problems": problems, "fields": fields, **self._text()}
        self.stderr.write(_document(problem), lambda text: text)


def _refusal_behind(error: BaseException) -> Refused | None:
    """The refusal that became this error, which has each reason by itself."""
    behind = error.__context__
    while behind is not None and not isinstance(behind, Refused):
        behind = behind.__context__
    return behind


def _plain(value: Any) -> str:
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _document(content: Mapping[str, Any], *, indented: bool = False) -> str:
    """As JSON; amounts of money, paths and the like as their text."""
    option = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
    if indented:
        option |= orjson.OPT_INDENT_2
    return orjson.dumps(content, default=_plain, option=option).decode()

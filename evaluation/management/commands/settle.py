"""Settles items of a study, each with its answers and a reason, or takes a settled label back."""

import csv
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from evaluation.counting import counted
from evaluation.forms.input.posted_fields import read_fields
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import add_by_argument, member_named, study_to_write
from evaluation.models import Study
from evaluation.protocols.base import Data
from evaluation.refusals import Refused
from evaluation.selectors import settled_judgments
from evaluation.services.history import SERVER
from evaluation.services.settling import JUDGES, PEOPLE, LabelToSettle, settle_items, take_back

ITEM, REASON = "item", "reason"


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="its slug")
        chosen = parser.add_mutually_exclusive_group(required=True)
        chosen.add_argument("--item", metavar="KEY")
        chosen.add_argument(
            "--file",
            type=Path,
            metavar="CSV",
            help="a row per item: the columns item and reason, and one for each question or question.part",
        )
        parser.add_argument(
            "--reason",
            default="",
            help="why; in a file, of the rows that have none; by itself what the form asks for in words",
        )
        parser.add_argument(
            "--answer",
            action="append",
            default=[],
            metavar="QUESTION=VALUE",
            help="an answer, of a part as QUESTION.PART=VALUE; once for each",
        )
        parser.add_argument(
            "--shown",
            nargs="+",
            default=[],
            choices=(PEOPLE, JUDGES),
            help="whose answers were looked at before, which the labels note (default: nobody's)",
        )
        parser.add_argument(
            "--take-back", action="store_true", help="take the item's settled label back, of --by or of --of"
        )
        parser.add_argument("--of", default="", metavar="USERNAME", help="whose label is taken back")
        add_by_argument(parser, "whose label it is, with no more than their rights; else the server's own")

    def perform(self, options: dict[str, Any]) -> Outcome:
        by = member_named(options["by"])
        study = study_to_write(options["study"], by)
        try:
            if options["take_back"]:
                self.stdout.write(_take_back(study, by, options))
                return {"study": study.slug, "taken_back": options["item"]}
            if options["of"]:
                raise CommandError("--of goes with --take-back.")
            labels = list(_in_file(options) if options["file"] else _on_the_line(options))
            settled = settle_items(study, labels, by=by, shown=options["shown"])
        except Refused as refused:
            raise CommandError("\n".join([*refused.problems, "Nothing was settled or taken back."])) from None
        self.stdout.write(f"Settled {counted(len(settled), 'item')}.")
        return {"study": study.slug, "settled": [each.pk for each in settled]}


def _take_back(study: Study, by: Any, options: Mapping[str, Any]) -> str:
    if not options["item"] or options["answer"] or options["shown"]:
        raise CommandError("--take-back goes with --item, --reason, --of and --by alone.")
    name = options["of"] or options["by"] or SERVER
    labels = (
        settled_judgments(study).filter(item__key=options["item"]).select_related("rater", "item", "study")
    )
    found = labels.filter(rater__settled_by__username=name).first()
    if found is None:
        others = sorted(labels.values_list("rater__settled_by__username", flat=True))
        there = f"it was settled by {', '.join(map(str, others))}" if others else "nobody has settled it"
        raise CommandError(f"There is no settled label of {options['item']!r} by {name} ({there}).")
    return take_back(found, by=by, reason=options["reason"])


def _on_the_line(options: Mapping[str, Any]) -> Iterator[LabelToSettle]:
    fields: dict[str, str] = {}
    for each in options["answer"]:
        name, sign, value = each.partition("=")
        if not sign or not name:
            raise CommandError(f"{each!r} is no answer: write it as QUESTION=VALUE or QUESTION.PART=VALUE.")
        if name in fields:
            raise CommandError(f"There are two answers to {name!r}.")
        fields[name] = value
    yield LabelToSettle(options["item"], options["item"], _data(fields), options["reason"])


def _in_file(options: Mapping[str, Any]) -> Iterator[LabelToSettle]:
    path: Path = options["file"]
    if options["answer"]:
        raise CommandError("The answers stand in the file, or in --answer: not in both.")
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, strict=True)
            head = list(reader.fieldnames or ())
            if ITEM not in head or len(set(head)) < len(head):
                raise CommandError(f"{path} needs a column {ITEM!r}, and each column once.")
            for row in reader:
                where = f"Line {reader.line_num}"
                if None in row or None in row.values():
                    raise CommandError(f"{where}: as many cells as columns are needed, {len(head)}.")
                item, reason = row.pop(ITEM).strip(), row.pop(REASON, "").strip()
                fields = {name: value for name, value in row.items() if value}
                yield LabelToSettle(where, item, _data(fields), reason or options["reason"])
    except (OSError, ValueError, csv.Error) as error:
        raise CommandError(f"{path} can't be read: {error}.") from None


def _data(fields: Mapping[str, str]) -> Data:
    data = read_fields(fields)
    for name in fields:
        if name.partition(".")[0] not in data:
            raise CommandError(f"There is no question {name!r}.")
    return data

"""Stores an endpoint's key, encrypted, in place of the one before, or forgets it. The key is read from a file or from
standard input, and shown to nobody."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import add_by_argument, member_named
from evaluation.refusals import Refused
from judging.management.studies import endpoint_facts, endpoint_of
from judging.services.endpoints.stored_keys import enter_key, remove_key

# More is no key, and a file that was meant for something else.
LONGEST = 4096


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="the endpoint's")
        chosen = parser.add_mutually_exclusive_group(required=True)
        chosen.add_argument(
            "--from", dest="file", metavar="FILE", help="the file with the key; - is standard input"
        )
        chosen.add_argument("--remove", action="store_true", help="forget the stored key")
        add_by_argument(parser, "on behalf of this user, who must have the permission to enter keys")

    def perform(self, options: dict[str, Any]) -> Outcome:
        by = member_named(options["by"])
        endpoint = endpoint_of(options["name"])
        try:
            if options["remove"]:
                remove_key(endpoint, by)
                self.stdout.write(f"The stored key of {endpoint.name} is removed.")
            else:
                enter_key(endpoint, _key(options["file"]), by)
                self.stdout.write(f"The key of {endpoint.name} is stored.")
        except Refused as refused:
            raise CommandError("\n".join(refused.problems)) from None
        return endpoint_facts(endpoint) | {"key_entered_at": endpoint.key_entered_at}


def _key(file: str) -> str:
    if file == "-":
        return sys.stdin.read(LONGEST)
    try:
        with Path(file).open(encoding="utf-8") as handle:
            return handle.read(LONGEST)
    except (OSError, ValueError) as error:
        raise CommandError(f"{file} can't be read: {error}.") from None

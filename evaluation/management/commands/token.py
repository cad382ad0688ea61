"""Makes an API token for a user and prints it; it can't be shown again."""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError, CommandParser

from evaluation.management.base import AssayCommand, Outcome
from evaluation.refusals import Refused
from evaluation.services.tokens import DEFAULT_DAYS, make_token


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument(
            "--days", type=int, default=DEFAULT_DAYS, help=f"it works for (default {DEFAULT_DAYS})"
        )
        parser.add_argument(
            "--name", default="made at the shell", help="what it is for, as its owner's list shows it"
        )

    def perform(self, options: dict[str, Any]) -> Outcome:
        user = get_user_model().objects.filter(username=options["username"]).first()
        if user is None:
            raise CommandError(f"There is no user {options['username']!r}.")
        name = options["name"].strip()
        if not 0 < len(name) <= 80:
            raise CommandError("A token's name has between 1 and 80 characters.")
        try:
            token, text = make_token(user, name=name, days=options["days"])
        except (Refused, ValueError) as refused:
            raise CommandError(str(refused)) from None
        self.stdout.write(text)
        self.stderr.write(
            f"Works until {token.expiry:%Y-%m-%d}. Revoke it on its owner's page /account/tokens/."
        )
        return {"token": text, "name": name, "expires_at": token.expiry}

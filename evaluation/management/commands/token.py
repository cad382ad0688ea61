"""Makes an API token for a user and prints it, which can't be shown again; lists a user's tokens, or revokes one."""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from evaluation.management.base import AssayCommand, Outcome
from evaluation.models import ApiToken
from evaluation.refusals import Refused
from evaluation.services.tokens import DEFAULT_DAYS, make_token, revoke_token


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
        chosen = parser.add_mutually_exclusive_group()
        chosen.add_argument("--list", action="store_true", help="make none, and list those that there are")
        chosen.add_argument("--revoke", metavar="KEY", help="the beginning of one, as --list shows it")

    def perform(self, options: dict[str, Any]) -> Outcome:
        user = get_user_model().objects.filter(username=options["username"]).first()
        if user is None:
            raise CommandError(f"There is no user {options['username']!r}.")
        # An empty one, as of a script's variable that is not set, is a key that nobody has.
        is_revoked = options["revoke"] is not None
        if is_revoked and not revoke_token(user, key=options["revoke"]):
            raise CommandError(f"{user} has no token {options['revoke']!r}.")
        if options["list"] or is_revoked:
            return self._list(user)
        name = options["name"].strip()
        if not 0 < len(name) <= 80:
            raise CommandError("A token's name has between 1 and 80 characters.")
        try:
            token, text = make_token(user, name=name, days=options["days"])
        except (Refused, ValueError) as refused:
            raise CommandError(str(refused)) from None
        self.stdout.write(text)
        self.stderr.write(
            f"Works until {token.expiry:%Y-%m-%d}. Revoke it with --revoke {token.token_key}, or on its owner's page "
            "/account/tokens/."
        )
        return {"token": text, "key": token.token_key, "name": name, "expires_at": token.expiry}

    def _list(self, user: Any) -> Outcome:
        tokens = ApiToken.objects.filter(user=user).exclude(expiry__lte=timezone.now())
        for each in tokens:
            self.stdout.write(f"{each.token_key}  until {each.expiry:%Y-%m-%d}  {each.name}")
        if not tokens:
            self.stdout.write(f"{user} has no tokens.")
        facts = [{"key": each.token_key, "name": each.name, "expires_at": each.expiry} for each in tokens]
        return {"user": user.get_username(), "tokens": facts}

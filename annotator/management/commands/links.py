"""Make personal links to a study, one per name, revoke or restore some, and list those that there are."""

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from annotator.models import PersonalLink
from annotator.panels.services.personal_links import (
    link_address,
    make_links,
    restore_link,
    revoke_link,
)
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import study_named
from evaluation.models import Study
from evaluation.refusals import Refused
from evaluation.services.history import server_account


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument(
            "names", nargs="*", metavar="name", help="names of the people to create links for"
        )
        chosen = parser.add_mutually_exclusive_group()
        for act in ("revoke", "restore"):
            chosen.add_argument(
                f"--{act}",
                nargs="*",
                metavar="NAME",
                help=f"{act} the links of these names, or of those before it",
            )
        parser.add_argument("--reason", default="", help="reason for revoking or restoring them")
        parser.add_argument("--by", metavar="USERNAME", help="user to record in the study's history")

    def perform(self, options: dict[str, Any]) -> Outcome:
        study = study_named(options["slug"])
        revoked, restored = options["revoke"], options["restore"]
        change = revoked is not None or restored is not None
        names = [*options["names"], *(revoked or ()), *(restored or ())]
        if change and not names:
            raise CommandError("Give the names of the links.")
        try:
            if change:
                self._change(study, names, restore_link if revoked is None else revoke_link, options)
            elif names:
                make_links(study, names, by=self._user(options["by"]))
        except (ValueError, Refused) as wrong:
            raise CommandError(str(wrong)) from None
        links = list(PersonalLink.objects.filter(study=study).select_related("study"))
        for link in links:
            revoked = f"\trevoked: {link.revoked_reason}" if link.revoked_at else ""
            self.stdout.write(f"{link.label}\t{link_address(link)}{revoked}")
        named = [
            {
                "name": link.label,
                "link": link_address(link),
                "revoked_at": link.revoked_at,
                "revoked_reason": link.revoked_reason,
            }
            for link in links
        ]
        return {"study": study.slug, "links": named}

    def _change(
        self,
        study: Study,
        names: Sequence[str],
        act: Callable[..., None],
        options: dict[str, Any],
    ) -> None:
        """All of them or none."""
        by = self._user(options["by"])
        there = {link.label: link for link in PersonalLink.objects.filter(study=study, label__in=names)}
        if unknown := ", ".join(name for name in names if name not in there):
            raise CommandError(f"There is no link for: {unknown}.")
        with transaction.atomic():
            for name in names:
                act(there[name], options["reason"], by=by)

    @staticmethod
    def _user(name: str | None) -> Any:
        if name is None:
            return server_account()
        user = get_user_model().objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"There is no user {name!r}.")
        return user

"""Invites a colleague to a study and prints the link; it can't be shown again."""

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.core.validators import validate_email
from django.urls import reverse

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import add_by_argument, member_named, study_to_write
from evaluation.models import StudyMember
from evaluation.refusals import Refused
from evaluation.services.invitations import can_mail, invite


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="its slug")
        parser.add_argument(
            "--role", choices=StudyMember.Role.values, default="editor", help="in the study (default editor)"
        )
        parser.add_argument(
            "--email", default="", metavar="ADDRESS", help="where the link is sent, with a mail server"
        )
        add_by_argument(parser, "in the name of this owner, as the invitation says")

    def perform(self, options: dict[str, Any]) -> Outcome:
        by, email = member_named(options["by"]), options["email"]
        study = study_to_write(options["study"], by, right="own")
        if email:
            try:
                validate_email(email)
            except ValidationError:
                raise CommandError(f"{email!r} is no e-mail address.") from None
        try:
            made = invite(
                study,
                role=options["role"],
                email=email,
                by=by,
                address=lambda token: (
                    settings.ASSAY_PUBLIC_URL + reverse("evaluation:invitation", args=[token])
                ),
            )
        except Refused as refused:
            raise CommandError(str(refused)) from None
        self.stdout.write(made.link)
        self.stderr.write(f"Works once, until {made.invitation.expires_at:%Y-%m-%d}.")
        if email and not can_mail():
            self.stderr.write("No mail server is set up (EMAIL_HOST): send the link yourself.")
        elif email:
            self.stderr.write(made.problem or f"Sent to {email}.")
        return {
            "study": study.slug,
            "link": made.link,
            "role": options["role"],
            "expires_at": made.invitation.expires_at,
            "mailed": made.invitation.mailed_at is not None,
        }

"""Lists a study's members and open invitations; adds, changes or removes a member, or ends an invitation."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import add_by_argument, member_named, study_to_write
from evaluation.models import Study, StudyMember
from evaluation.refusals import Refused
from evaluation.services.history import server_account
from evaluation.services.invitations import withdraw_invitation
from evaluation.services.members import REMOVE, add_member, change_member


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="by its slug")
        parser.add_argument("username", nargs="?", default="")
        change = parser.add_mutually_exclusive_group()
        change.add_argument("--role", choices=StudyMember.Role.values, help="that the user has from now on")
        change.add_argument("--remove", action="store_true", help="the user is no member any more")
        change.add_argument(
            "--withdraw", type=int, metavar="ID", help="end this invitation, by its number in the list"
        )
        add_by_argument(parser, "on behalf of this owner")

    def perform(self, options: dict[str, Any]) -> Outcome:
        by = member_named(options["by"])
        study = study_to_write(options["study"], by, right="own")
        if bool(options["username"]) != bool(options["role"] or options["remove"]):
            raise CommandError("Name a user together with --role or --remove.")
        try:
            if options["username"]:
                self.stdout.write(_change(study, options, by or server_account()))
            elif options["withdraw"] is not None:
                done = withdraw_invitation(study, invitation=options["withdraw"], by=by or server_account())
                self.stdout.write(done)
        except Refused as refused:
            raise CommandError(str(refused)) from None
        return self._listed(study)

    def _listed(self, study: Study) -> Outcome:
        members = list(study.members.select_related("user").order_by("role", "user__username"))
        invitations = list(study.invitations.open())
        for member in members:
            self.stdout.write(f"{member.user}: {member.role}")
        for each in invitations:
            whom = each.email or "by link"
            self.stdout.write(f"invitation {each.pk}: {whom}, {each.role}, until {each.expires_at:%Y-%m-%d}")
        return {
            "study": study.slug,
            "members": [{"user": str(each.user), "role": each.role} for each in members],
            "invitations": [
                {"id": each.pk, "email": each.email, "role": each.role, "expires_at": each.expires_at}
                for each in invitations
            ],
        }


def _change(study: Study, options: dict[str, Any], by: Any) -> str:
    user = member_named(options["username"])
    member = study.members.filter(user=user).first()
    if member is None and options["role"]:
        return add_member(study, user=user, role=options["role"], by=by)
    if member is None:
        raise CommandError(f"{user} is no member of {study.title}.")
    return change_member(study, member=member.pk, role=options["role"] or REMOVE, by=by)

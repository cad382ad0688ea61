"""Shows a study's leaderboard; publishes it for everybody to read, or withdraws what was published."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from analytics.leaderboard.boards import leaderboard_record
from analytics.leaderboard.files import leaderboard_csv
from analytics.reports.cache import LEADERBOARD_TIES, computed_at, whole_report
from analytics.reports.common import NothingToReport
from evaluation.management.base import AssayCommand, Outcome
from evaluation.management.studies import add_by_argument, member_named, study_to_write
from evaluation.refusals import Refused
from evaluation.services.history import server_account
from evaluation.services.leaderboards import is_published, publish_leaderboard, unpublish_leaderboard


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="by its slug")
        parser.add_argument("act", nargs="?", choices=["publish", "withdraw"])
        parser.add_argument("--description", default="", help="with publish: what its readers are told")
        add_by_argument(parser, "on behalf of this member, an owner to publish")

    def perform(self, options: dict[str, Any]) -> Outcome:
        by = member_named(options["by"])
        study = study_to_write(options["study"], by, right="own" if options["act"] else "view")
        try:
            record = leaderboard_record(whole_report(study, ties=LEADERBOARD_TIES))
            if options["act"] == "publish":
                done = publish_leaderboard(
                    study,
                    content=record,
                    computed_at=computed_at(study),
                    description=options["description"],
                    by=by or server_account(),
                )
            elif options["act"] == "withdraw":
                done = unpublish_leaderboard(study, by=by or server_account())
            else:
                done = leaderboard_csv(record).rstrip()
        except (NothingToReport, Refused) as refused:
            raise CommandError(str(refused)) from None
        if options["act"] or not options["json"]:
            self.stdout.write(done)
        return {"study": study.slug, "published": is_published(study), "leaderboard": record}

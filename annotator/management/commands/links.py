"""Makes personal links to a study, one per name, and lists those that there are."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotator.models import PersonalLink
from annotator.services.links import link_address, make_links
from evaluation.models import Study


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("names", nargs="*", metavar="name", help="whom each new link is for")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.visible().filter(slug=options["slug"]).first()
        if study is None:
            raise CommandError(f"There is no study {options['slug']!r}.")
        if options["names"]:
            try:
                make_links(study, options["names"])
            except ValueError as wrong:
                raise CommandError(str(wrong)) from None
        for link in PersonalLink.objects.filter(study=study).select_related("study"):
            self.stdout.write(f"{link.label}\t{link_address(link)}")

"""Mark an endpoint as trusted, as keeping what it is sent, and set which studies it is open to."""

from argparse import BooleanOptionalAction
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from judging.management.studies import endpoint_of, study_of
from judging.services.endpoints.access import address_refusals, is_trusted, set_trust


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument(
            "--trust",
            action=BooleanOptionalAction,
            help="judges may call it though the list of allowed endpoints does not name it",
        )
        parser.add_argument(
            "--local",
            action=BooleanOptionalAction,
            help="it keeps what it is sent, so that it may be sent private splits",
        )
        parser.add_argument("--open-to-all", action=BooleanOptionalAction, help="to every study")
        parser.add_argument(
            "--open-to", action="append", default=[], metavar="SLUG", help="to this study, too"
        )
        parser.add_argument("--close-to", action="append", default=[], metavar="SLUG")

    def handle(self, *args: Any, **options: Any) -> None:
        endpoint = endpoint_of(options["name"])
        opened = [study_of(slug) for slug in options["open_to"]]
        closed = [study_of(slug) for slug in options["close_to"]]
        if options["trust"] is not None:
            set_trust(endpoint, None, trusted=options["trust"])
        for name in ("local", "open_to_all"):
            if options[name] is not None:
                setattr(endpoint, name, options[name])
        endpoint.save()
        endpoint.studies.add(*opened)
        endpoint.studies.remove(*closed)
        slugs = endpoint.studies.order_by("slug").values_list("slug", flat=True)
        self.stdout.write(
            f"Endpoint {endpoint.name}: {'trusted' if is_trusted(endpoint) else 'not trusted'}, "
            f"{'keeps' if endpoint.local else 'may pass on'} what it is sent, "
            f"open to {'every study' if endpoint.open_to_all else ', '.join(slugs) or 'no study'}."
        )
        for problem in address_refusals(endpoint):
            self.stdout.write(f"Not called: {problem}")

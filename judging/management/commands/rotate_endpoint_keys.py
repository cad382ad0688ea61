"""Encrypt all stored keys of endpoints under the first of ASSAY_ENDPOINT_SECRETS."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from evaluation.management.base import AssayCommand, Outcome
from judging.services.endpoints.stored_keys import rotate_keys


class Command(AssayCommand):
    help = __doc__

    def perform(self, options: dict[str, Any]) -> Outcome:
        if not settings.ASSAY_ENDPOINT_SECRETS:
            raise CommandError("ASSAY_ENDPOINT_SECRETS is not set.")
        done, closed = rotate_keys()
        self.stdout.write(f"Keys encrypted under the first secret: {done:,}.")
        if closed:
            raise CommandError(
                f"Encrypted under a secret that is not at hand: {', '.join(closed)}. Name it in ASSAY_ENDPOINT_SECRETS "
                "after the first one, or enter these keys again."
            )
        return {"encrypted": done}

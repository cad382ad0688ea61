"""Limits on request bodies by address, in size and kind: decided by the request's head, before its body is read."""

import re

from django.conf import settings

from annotator.middleware import PREFIXES

# The pages that take uploads, which alone may take a file. The proxy in docs/operating.md has the same expression.
UPLOADS = re.compile(
    r"/(new/from-file|studies/[-a-zA-Z0-9_]+/(upload|scores|add-items|generation/(queries|import|corpora))"
    r"|api/v1/(imports|uploads/[0-9]+|studies/[-a-zA-Z0-9_]+/(imports|additions/file|scores/file)))/"
)
# Their pages send plain forms, and drafts and revisions as JSON.
FROM_PARTICIPANTS = ("application/x-www-form-urlencoded", "application/json")
# Takes a file in parts, each within a limit of its own, which the proxy leaves to the application.
PARTS = re.compile(r"/api/v1/uploads/[0-9]+/")
# A form's other fields and the lines between its parts.
AROUND_A_FILE = 1024 * 1024


def largest_body(path: str) -> int:
    """The limit in bytes; only addresses of uploads take more than a form can be."""
    if PARTS.fullmatch(path):
        return int(settings.ASSAY_UPLOAD_PART_BYTES)
    if UPLOADS.fullmatch(path):
        return int(settings.ASSAY_UPLOAD_MB) * 1_000_000 + AROUND_A_FILE
    return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)


def takes_content_type(path: str, content_type: str) -> bool:
    """Participants' addresses are open to anybody, so they take no forms with files, which are written to a disk."""
    kind = content_type.partition(";")[0].strip().lower()
    return not path.startswith(PREFIXES) or kind in FROM_PARTICIPANTS

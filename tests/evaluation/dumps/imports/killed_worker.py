"""A process on a database of its own: `make` prepares it, `look SLUG` says what there is to be seen of a study.

Prints one line of JSON.
"""

import hashlib
import io
import json
import re
import sys
from contextlib import redirect_stderr, redirect_stdout

import django

django.setup()

from django.contrib.auth import get_user_model  # noqa: E402 - needs the apps
from django.core.management import CommandError, call_command  # noqa: E402
from django.test import Client  # noqa: E402

from evaluation.models import Import, Item, Study  # noqa: E402
from evaluation.services.studies.verification import verify_study  # noqa: E402
from tests.evaluation.dumps.build import content, export_bytes  # noqa: E402

PAGES = ("/studies/{}/", "/studies/{}/report/", "/studies/{}/report.json", "/s/{}/")
COMMANDS = (
    ("report",),
    ("export", "--out=-"),
    ("verify",),
    ("launch", "--confirm"),
    ("status", "close"),
    ("exclude", "--rater=ada", "--reason=Spam."),
    ("places",),
)


def make():
    call_command("migrate", verbosity=0)
    get_user_model().objects.create_superuser("root", password="root-password")
    return {}


def _comparable(exported, slug):
    """Without what each study has of its own: its slug and the digest of its seals."""
    return re.sub(rb'"sealed":{[^}]*},', b"", exported).replace(f'"slug":"{slug}"'.encode(), b"")


def look(slug):
    study = Study.objects.filter(slug=slug).first()
    visible = Study.objects.visible().filter(slug=slug).exists()
    client = Client(headers={"host": "localhost"})
    client.force_login(get_user_model().objects.get(is_active=True))
    return {
        "visible": visible,
        "listed": f"/studies/{slug}/" in client.get("/studies/").content.decode(),
        "pages": {} if visible else {page: client.get(page.format(slug)).status_code for page in PAGES},
        "commands": {} if visible else {name: said(name, slug, *more) for name, *more in COMMANDS},
        "items": Item.objects.filter(study=study).count(),
        "imports": sorted(Import.objects.values_list("state", flat=True)),
        "hash": study.study_hash if study else "",
        "content": digest(repr(content(study)).encode()) if visible else "",
        "export": digest(_comparable(export_bytes(study), slug)) if visible else "",
        "verify": list(verify_study(study)) if visible else [],
    }


def digest(text):
    return hashlib.sha256(text).hexdigest()


def said(*command):
    """The error that a command ends with, or nothing."""
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            call_command(*command)
    except CommandError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    print(json.dumps({"make": make, "look": look}[command](*arguments)))  # noqa: T201 - how processes talk

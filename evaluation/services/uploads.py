"""Files that are sent in parts: announced with size and SHA-256, appended to in order, and taken by an import."""

import hashlib
import shutil
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from evaluation.counting import counted
from evaluation.models import Upload
from evaluation.refusals import FieldsRefused, Refused, WrongState
from evaluation.services.jobs import kept_upload, new_file_name, writing_to_folder

# Of one user at once; together they announce no more than so many of the largest file.
MOST, MOST_OF_LARGEST = 5, 2
KEPT = timedelta(days=1)
BLOCK = 1024 * 1024


def begin_upload(user: Any, *, name: str, size: int, sha256: str) -> tuple[Upload, bool]:
    """The user's upload of this file, and whether it is a new one: what broke off goes on in the one that is there."""
    with transaction.atomic():
        get_user_model().objects.select_for_update().get(pk=user.pk)
        mine = list(Upload.objects.filter(user=user))
        for each in mine:
            if (each.name, each.sha256, each.size) == (name, sha256, size):
                return each, False
        if problems := _limits(mine, name, size, sha256):
            raise FieldsRefused(problems)
        file = new_file_name("upload")
        made = Upload.objects.create(user=user, name=name, size=size, sha256=sha256, file=file)
        with writing_to_folder():
            made.path.touch(mode=0o600)
    return made, True


def _limits(mine: list[Upload], name: str, size: int, sha256: str) -> dict[str, list[str]]:
    largest = settings.ASSAY_UPLOAD_MB * 1_000_000
    if size > largest:
        return {"size": [f"The file is larger than {settings.ASSAY_UPLOAD_MB} MB."]}
    if any((each.name, each.sha256) == (name, sha256) for each in mine):
        return {"size": ["You announced this file with another size."]}
    if len(mine) >= MOST:
        return {"": [f"You have {counted(MOST, 'upload')} already. Import or delete one first."]}
    if sum(each.size for each in mine) + size > MOST_OF_LARGEST * largest:
        most = MOST_OF_LARGEST * settings.ASSAY_UPLOAD_MB
        return {"": [f"Your uploads may have {most} MB together. Import or delete one first."]}
    return {}


def append_part(upload: Upload, *, start: int, length: int, total: int, blocks: Iterable[bytes]) -> Upload:
    """Append a part of so many bytes, all of it or nothing, and return the upload as it is then.

    WrongState says where to go on; of a file that is whole and not the announced one nothing is left.
    """
    upload.refresh_from_db()
    _refuse_elsewhere(upload, start, total)
    # It comes in, and is hashed, while nobody waits for the upload's row.
    with kept_upload(blocks) as name:
        part = Path(settings.ASSAY_JOB_FILES) / name
        if (written := part.stat().st_size) != length:
            raise Refused(
                f"The part has {written} bytes, and its Content-Range says {length}. Send it again."
            )
        is_last = start + length == upload.size
        found = _digest(upload, start, part) if is_last else upload.sha256
        with transaction.atomic():
            upload = Upload.objects.select_for_update().get(pk=upload.pk)
            _refuse_elsewhere(upload, start, total)
            if found == upload.sha256:
                _append(upload, start, part)
                upload.received = start + length
                upload.save(update_fields=["received"])
            else:
                delete_upload(upload)
    if found != upload.sha256:
        raise Refused(
            f"The file's SHA-256 is {found}, not {upload.sha256} as announced. It was deleted; upload it again."
        )
    return upload


def _refuse_elsewhere(upload: Upload, start: int, total: int) -> None:
    if total != upload.size:
        raise Refused(f"The file was announced with {upload.size} bytes, not with {total}.")
    if start != upload.received:
        raise WrongState(f"This upload goes on at byte {upload.received}, not at {start}.")


def _append(upload: Upload, start: int, part: Path) -> None:
    with writing_to_folder(), upload.path.open("r+b") as file, part.open("rb") as source:
        file.seek(start)
        shutil.copyfileobj(source, file, BLOCK)


def _digest(upload: Upload, start: int, part: Path) -> str:
    """Of what has come in before `start`, which nobody changes any more, and the part."""
    digest, left = hashlib.sha256(), start
    with writing_to_folder(), upload.path.open("rb") as before, part.open("rb") as last:
        while block := before.read(min(BLOCK, left)):
            digest.update(block)
            left -= len(block)
        while block := last.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def whole_upload(user: Any, pk: int) -> Upload:
    """The user's upload, once all of it is there; its SHA-256 was compared as its last part came in."""
    upload = Upload.objects.filter(user=user, pk=pk).first()
    if upload is None:
        raise FieldsRefused({"upload": ["You have no such upload. It may be older than a day, or imported."]})
    if upload.received < upload.size:
        missing = f"{upload.received} of its {upload.size} bytes are there."
        raise FieldsRefused({"upload": [f"This upload is not complete: {missing}"]})
    return upload


def blocks_of(upload: Upload) -> Iterator[bytes]:
    with upload.path.open("rb") as file:
        while block := file.read(BLOCK):
            yield block


def delete_upload(upload: Upload) -> None:
    """Delete an upload with its file, once that is certain."""
    path = upload.path
    Upload.objects.filter(pk=upload.pk).delete()
    transaction.on_commit(lambda: path.unlink(missing_ok=True))


def remove_old_uploads() -> int:
    """Delete what nobody has imported within a day; return its number."""
    old = list(Upload.objects.filter(created_at__lt=timezone.now() - KEPT))
    for each in old:
        delete_upload(each)
    return len(old)

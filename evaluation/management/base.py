"""The base of every command: it says in a sentence that the disk is full."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.operations.full_disk import is_full_disk

NO_ROOM = "The disk is full. Make room, then run this command again."


class AssayCommand(BaseCommand):
    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except CommandError:
            raise
        except Exception as error:
            if is_full_disk(error):
                raise CommandError("\n".join([NO_ROOM, *getattr(error, "__notes__", ())])) from error
            raise

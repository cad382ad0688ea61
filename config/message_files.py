"""Messages as files, where there is no Redis: each is written under another name first, and appears whole.

Kombu's own transport opens a file under its final name and then fills it. A worker that looks in between takes an
empty file, and the message is lost.
"""

import os
import uuid
from pathlib import Path
from time import monotonic
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps


class WholeFiles(filesystem.Channel):
    # Kombu's stubs name this argument in two ways.
    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        name = f"{round(monotonic() * 1000)}_{uuid.uuid4()}.{queue}.msg"
        path = Path(self.data_folder_out) / name
        # Readers take names of their queue's ending only.
        unfinished = path.with_name(f"{name}.part")
        try:
            unfinished.write_text(dumps(payload))
            os.replace(unfinished, path)
        except OSError as error:
            raise ChannelError(f"Cannot add file {path} to its folder") from error


class Transport(filesystem.Transport):
    Channel = WholeFiles

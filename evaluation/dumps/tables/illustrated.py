"""A ZIP of one table and the images that its cells name: each image becomes data where it is named."""

import base64
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from evaluation.dumps.problems import Problems
from evaluation.dumps.tables.sheet import MAX_CHARACTERS, RawRows, measure
from evaluation.refusals import Refused
from evaluation.rendering.images import MAX_IMAGE

SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
# The kind of an image is told by its first bytes, as that of a table is.
KINDS = {
    "png": rb"\x89PNG\r\n\x1a\n",
    "jpeg": rb"\xff\xd8\xff",
    "gif": rb"GIF8[79]a",
    "webp": rb"RIFF.{4}WEBP",
}
IN_MARKDOWN = re.compile(r"(!\[[^\]\n]*\]\(\s*)<?([^<>()\s][^<>()\n]*?)>?(\s*\))")
# Sources that name no file.
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#", re.IGNORECASE)
# Of base64, three bytes become four characters.
MAX_BYTES = MAX_IMAGE * 3 // 4 - 100
# Programs that pack folders add these.
RUBBISH = ("__MACOSX/", ".DS_Store", "Thumbs.db", "desktop.ini")


def holds_images(archive: zipfile.ZipFile) -> bool:
    return any(_is_image(name) for name in _files(archive))


def read_illustrated(archive: zipfile.ZipFile, read: Callable[[bytes], RawRows]) -> RawRows:
    """The table in the archive, with its images; Refused where there is no table or more than one, and, with all
    lines, where an image that is named is not there or can't be shown."""
    names = _files(archive)
    tables = [name for name in names if not _is_image(name)]
    if len(tables) != 1:
        found = f"{len(tables)} other files ({', '.join(tables[:5])})" if tables else "no table"
        raise Refused(f"The ZIP holds images and {found}. Pack one table together with its images.")
    raw = read(archive.read(tables[0]))
    images = _Images(archive, [name for name in names if _is_image(name)], PurePosixPath(tables[0]).parent)
    problems, rows, size = Problems(), [], 0
    for number, cells in raw.rows:
        wrong: list[str] = []
        rows.append((number, [images.placed_in(cell, wrong) for cell in cells]))
        problems.add(f"{raw.unit} {number}", wrong)
        size += measure(rows[-1][1])
        if size > MAX_CHARACTERS:
            raise Refused(
                f"The images make the table larger than {MAX_CHARACTERS // 1_000_000} MB, each counted wherever it is "
                "named. Divide the table, or make the images smaller."
            )
    problems.raise_if_any()
    if not images.placed:
        return raw
    said = (
        f"{images.placed:,} of the ZIP's images stand in the texts as data. They are shown where the study's design "
        "says so: a new study's does, another has “Show images in responses” in it."
    )
    return replace(raw, rows=rows, has_images=True, notices=(*raw.notices, said))


class _Images:
    """The images of an archive as data, each read when it is first named."""

    def __init__(self, archive: zipfile.ZipFile, names: list[str], folder: PurePosixPath) -> None:
        self.archive = archive
        self.folder = folder
        self.names = set(names)
        # Some systems take cat.PNG for cat.png.
        self.by_last: dict[str, list[str]] = {}
        for name in names:
            self.by_last.setdefault(PurePosixPath(name).name.lower(), []).append(name)
        self._data: dict[str, str] = {}

    @property
    def placed(self) -> int:
        return len(self._data)

    def placed_in(self, value: Any, wrong: list[str]) -> Any:
        """The cell with the images that it names; a cell that is nothing but an image's name becomes the image."""
        if isinstance(value, Mapping):
            return {key: self.placed_in(each, wrong) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.placed_in(each, wrong) for each in value]
        if not isinstance(value, str):
            return value
        if (whole := self._find(value.strip())) is not None:
            return f"![]({self._read(whole, wrong)})"

        def place(found: re.Match[str]) -> str:
            named = found[2].strip().partition(' "')[0]
            if ELSEWHERE.match(named):
                return found[0]
            if (name := self._find(named)) is None:
                wrong.append(f"there is no image {named!r} in the ZIP")
                return found[0]
            return f"{found[1]}{self._read(name, wrong)}{found[3]}"

        return IN_MARKDOWN.sub(place, value)

    def _find(self, named: str) -> str | None:
        """The archive's name of it: by its way from the table, from the archive's top, or by a last part that only one
        has."""
        if not named.lower().endswith(SUFFIXES):
            return None
        plain = unquote(named).removeprefix("./")
        for name in (str(self.folder / plain), plain):
            if name in self.names:
                return name
        alike = self.by_last.get(PurePosixPath(plain).name.lower(), [])
        return alike[0] if len(alike) == 1 else None

    def _read(self, name: str, wrong: list[str]) -> str:
        if name not in self._data:
            if self.archive.getinfo(name).file_size > MAX_BYTES:
                wrong.append(f"{name} is larger than {MAX_BYTES / 1_000_000:.1f} MB, the most of an image")
                return ""
            raw = self.archive.read(name)
            kind = next((each for each, mark in KINDS.items() if re.match(mark, raw, re.DOTALL)), None)
            if kind is None:
                wrong.append(f"{name} is no PNG, JPEG, GIF or WebP image")
                return ""
            self._data[name] = f"data:image/{kind};base64,{base64.b64encode(raw).decode()}"
        return self._data[name]


def _files(archive: zipfile.ZipFile) -> list[str]:
    return sorted(
        each.filename
        for each in archive.infolist()
        if not each.is_dir() and not any(part in each.filename for part in RUBBISH)
    )


def _is_image(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)

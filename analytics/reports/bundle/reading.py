"""Bundles as they are read: every file is held against the manifest before anything in it is believed."""

import hashlib
import io
import stat
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from analytics.reports.bundle.members import FAMILY, FORMAT, MANIFEST, REPORT, STUDY, TABLES, VERSIONS
from analytics.reports.common import Watch, no_watch
from evaluation.refusals import Refused

# What unpacking may come to. Text seldom shrinks to a fortieth of its size; a bomb is a thousand times its own.
MAX_MEMBERS = 10_000
MAX_BYTES = 20_000_000_000
MAX_RATIO = 200
SMALL = 1_000_000
# An archive's directory, which is read at once: of so many files it is half as long.
MAX_DIRECTORY = 2_000_000
# Of a file that is held in memory, and of all tables together; of JSON, which takes twenty times as much there.
MAX_READ = 100_000_000
MAX_JSON = 30_000_000
PIECE = 1 << 20
NEEDED = (STUDY, REPORT, VERSIONS)
# The ways of packing whose memory is bounded, whatever the archive says.
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What reading a damaged file raises: of a place before its beginning, and of a name in no encoding, too.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError)
# A manifest names files; one that is longer than this names more than there may be.
MAX_MANIFEST = 5_000_000


@dataclass(frozen=True)
class Bundle:
    """A bundle that is what its manifest says."""

    archive: zipfile.ZipFile
    manifest: Mapping[str, Any]

    def read(self, path: str) -> bytes:
        return _read(self.archive, path)

    def json(self, path: str) -> Any:
        return _json(self.archive, path)

    @property
    def tables(self) -> dict[str, bytes]:
        """The tables' CSV by their key."""
        paths = [path for path in self.manifest["sha256"] if path.startswith(TABLES)]
        if sum(self.archive.getinfo(path).file_size for path in paths) > MAX_READ:
            raise Refused(f"The tables are larger than {MAX_READ / 1e6:,.0f} MB.")
        return {path.removeprefix(TABLES).removesuffix(".csv"): self.read(path) for path in paths}

    def lines(self, path: str) -> Iterator[bytes] | None:
        """The lines of one file; None where the bundle has none such."""
        if path not in self.manifest["sha256"]:
            return None
        return self._lines(path)

    def _lines(self, path: str) -> Iterator[bytes]:
        with self.archive.open(path) as file:
            yield from file

    @contextmanager
    def extracted(self, path: str) -> Iterator[Path]:
        """One file, unpacked beside nothing else, as long as it is wanted."""
        with tempfile.TemporaryDirectory(prefix="assay-bundle-") as folder:
            target = Path(folder) / PurePosixPath(path).name
            with self.archive.open(path) as source, target.open("wb") as file:
                while piece := source.read(PIECE):
                    file.write(piece)
            yield target


class _ArchiveFile(io.BufferedReader):
    """A file of which no more is read at once than a bundle's directory may have, whatever the archive says."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > MAX_DIRECTORY:
            raise Refused(f"The archive lists more files than the {MAX_MEMBERS:,} that a bundle may have.")
        return super().read(size)


@contextmanager
def _open(path: Path) -> Iterator[zipfile.ZipFile]:
    with _ArchiveFile(io.FileIO(path)) as file, zipfile.ZipFile(file) as archive:
        yield archive


def is_bundle(path: Path) -> bool:
    """True for an archive whose manifest is a bundle's, of whatever version and however damaged the rest is."""
    if not path.is_file() or not zipfile.is_zipfile(path):
        return False
    try:
        with _open(path) as archive:
            entry = archive.getinfo(MANIFEST)
            if _unsafe([entry]):
                return False
            manifest = orjson.loads(_read(archive, MANIFEST, MAX_MANIFEST))
    except (KeyError, Refused, *DAMAGED):
        return False
    return isinstance(manifest, dict) and str(manifest.get("format", "")).startswith(FAMILY)


@contextmanager
def open_bundle(path: Path, *, most_bytes: int = MAX_BYTES, watch: Watch = no_watch) -> Iterator[Bundle]:
    """The bundle; Refused with every reason where it is no bundle, is unsafe to unpack, or was changed."""
    with ExitStack() as opened:
        try:
            archive = opened.enter_context(_open(path))
        except OSError as error:
            raise Refused(f"{path} can't be read: {error.strerror}.") from None
        except DAMAGED:
            raise Refused(f"{path} is no zip archive, or is damaged.") from None
        if unsafe := _unsafe(archive.infolist(), most_bytes):
            raise Refused(*unsafe)
        manifest = _manifest(archive)
        if wrong := _differing(archive, manifest["sha256"], watch):
            raise Refused(*wrong)
        yield Bundle(archive, manifest)


def _unsafe(entries: list[zipfile.ZipInfo], most_bytes: int = MAX_BYTES) -> list[str]:
    if len(entries) > MAX_MEMBERS:
        return [f"The archive has {len(entries):,} files; a bundle has at most {MAX_MEMBERS:,}."]
    total = sum(each.file_size for each in entries)
    problems = [problem for each in entries for problem in _unsafe_entry(each)]
    if total > most_bytes:
        problems.append(
            f"Unpacked it would be {total / 1e6:,.0f} MB; at most {most_bytes / 1e6:,.0f} MB are read here."
        )
    times = Counter(each.filename for each in entries)
    return problems + [f"{name!r} is in the archive {n} times." for name, n in times.items() if n > 1]


def _unsafe_entry(entry: zipfile.ZipInfo) -> Iterator[str]:
    # As it stands in the archive: `filename` has lost what follows a NUL.
    name = entry.orig_filename
    parts = name.split("/")
    strange = "\\" in name or not name.isprintable() or ":" in parts[0]
    if strange or any(part in ("", ".", "..") for part in parts):
        yield f"{name!r} leads outside of the archive, or is no plain path."
        return
    if entry.flag_bits & 0x1:
        yield f"{name} is encrypted."
    if entry.compress_type not in PACKINGS:
        yield f"{name} is packed in a way that bundles are not; they use Deflate."
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
        yield f"{name} is no regular file."
    if entry.file_size > SMALL and entry.file_size > MAX_RATIO * entry.compress_size:
        yield f"{name} would unpack to {entry.file_size / max(entry.compress_size, 1):,.0f} times its size."


def _manifest(archive: zipfile.ZipFile) -> Mapping[str, Any]:
    if MANIFEST not in archive.namelist():
        raise Refused(f"This is no replication bundle: it has no {MANIFEST}.")
    manifest: Any = _json(archive, MANIFEST)
    found = manifest.get("format") if isinstance(manifest, dict) else None
    if found != FORMAT:
        raise Refused(f"{MANIFEST}: the format is {found!r}; this version reads {FORMAT!r}.")
    hashes = manifest.get("sha256")
    if not isinstance(hashes, dict) or not all(
        isinstance(each, str) and path.isprintable() for path, each in hashes.items()
    ):
        raise Refused(f"{MANIFEST} has no sha256 of the files.")
    if missing := [
        name for name in ("study", "study_hash", "figures", "made") if not isinstance(manifest.get(name), str)
    ]:
        raise Refused(*(f"{MANIFEST} does not say {name!r}." for name in missing))
    if missing := [path for path in NEEDED if path not in hashes]:
        raise Refused(*(f"{MANIFEST} does not name {path}, which every bundle has." for path in missing))
    return dict(manifest)


def _differing(archive: zipfile.ZipFile, hashes: Mapping[str, str], watch: Watch) -> list[str]:
    there = set(archive.namelist()) - {MANIFEST}
    problems = [f"{path} is missing." for path in sorted(set(hashes) - there)]
    problems += [f"{path} is not in the manifest." for path in sorted(there - set(hashes))]
    both = sorted(there & set(hashes))
    for at, path in enumerate(both):
        try:
            same = _hash(archive, path, partial(watch, "checking the files", at, len(both))) == hashes[path]
        except DAMAGED:
            problems.append(f"{path} is damaged: it can't be unpacked.")
            continue
        if not same:
            problems.append(f"{path} was changed: its sha256 is not the one in the manifest.")
    return problems


def _hash(archive: zipfile.ZipFile, path: str, tell: Callable[[], None]) -> str:
    """Its sha256. `tell` is called for every piece: a worker that is silent for long is taken to be lost."""
    digest = hashlib.sha256()
    with archive.open(path) as file:
        while piece := file.read(PIECE):
            digest.update(piece)
            tell()
    return digest.hexdigest()


def _read(archive: zipfile.ZipFile, path: str, most: int = MAX_READ) -> bytes:
    if archive.getinfo(path).file_size > most:
        raise Refused(f"{path} is larger than {most / 1e6:,.0f} MB.")
    with archive.open(path) as file:
        # At once, it would be unpacked whole before it is cut to the size that the archive says.
        return b"".join(iter(partial(file.read, PIECE), b""))


def _json(archive: zipfile.ZipFile, path: str) -> Any:
    try:
        content = _read(archive, path, MAX_JSON)
    except DAMAGED:
        raise Refused(f"{path} is damaged: it can't be unpacked.") from None
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise Refused(f"{path} is not JSON: {error}.") from None

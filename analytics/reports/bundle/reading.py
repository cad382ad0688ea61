"""Bundles as they are read: every file is held against the manifest before anything in it is believed."""

import hashlib
import stat
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from analytics.reports.bundle.members import FORMAT, MANIFEST, REPORT, STUDY, TABLES, VERSIONS
from evaluation.refusals import Refused

# What unpacking may come to. Text seldom shrinks to a fortieth of its size; a bomb is a thousand times its own.
MAX_MEMBERS = 10_000
MAX_BYTES = 20_000_000_000
MAX_RATIO = 200
SMALL = 1_000_000
# Of the files that are held in memory.
MAX_READ = 500_000_000
PIECE = 1 << 20
NEEDED = (STUDY, REPORT, VERSIONS)


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
        return {path.removeprefix(TABLES).removesuffix(".csv"): self.read(path) for path in paths}

    @contextmanager
    def extracted(self, path: str) -> Iterator[Path]:
        """One file, unpacked beside nothing else, as long as it is wanted."""
        with tempfile.TemporaryDirectory(prefix="assay-bundle-") as folder:
            target = Path(folder) / PurePosixPath(path).name
            with self.archive.open(path) as source, target.open("wb") as file:
                while piece := source.read(PIECE):
                    file.write(piece)
            yield target


@contextmanager
def open_bundle(path: Path) -> Iterator[Bundle]:
    """The bundle; Refused with every reason where it is no bundle, is unsafe to unpack, or was changed."""
    try:
        archive = zipfile.ZipFile(path)
    except OSError as error:
        raise Refused(f"{path} can't be read: {error.strerror}.") from None
    except zipfile.BadZipFile:
        raise Refused(f"{path} is no zip archive, or is damaged.") from None
    with archive:
        if unsafe := _unsafe(archive.infolist()):
            raise Refused(*unsafe)
        manifest = _manifest(archive)
        if wrong := _differing(archive, manifest["sha256"]):
            raise Refused(*wrong)
        yield Bundle(archive, manifest)


def _unsafe(entries: list[zipfile.ZipInfo]) -> list[str]:
    if len(entries) > MAX_MEMBERS:
        return [f"The archive has {len(entries):,} files; a bundle has at most {MAX_MEMBERS:,}."]
    total = sum(each.file_size for each in entries)
    problems = [problem for each in entries for problem in _unsafe_entry(each)]
    if total > MAX_BYTES:
        problems.append(
            f"Unpacked it would be {total / 1e9:,.0f} GB; at most {MAX_BYTES / 1e9:,.0f} GB are read."
        )
    times = Counter(each.filename for each in entries)
    return problems + [f"{name} is in the archive {n} times." for name, n in times.items() if n > 1]


def _unsafe_entry(entry: zipfile.ZipInfo) -> Iterator[str]:
    # As it stands in the archive: `filename` has lost what follows a NUL.
    name = entry.orig_filename
    parts = name.split("/")
    if "\\" in name or "\0" in name or ":" in parts[0] or any(part in ("", ".", "..") for part in parts):
        yield f"{name!r} leads outside of the archive, or is no plain path."
    if entry.flag_bits & 0x1:
        yield f"{name} is encrypted."
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
    if not isinstance(hashes, dict) or not all(isinstance(each, str) for each in hashes.values()):
        raise Refused(f"{MANIFEST} has no sha256 of the files.")
    if missing := [
        name for name in ("study", "study_hash", "figures", "made") if not isinstance(manifest.get(name), str)
    ]:
        raise Refused(*(f"{MANIFEST} does not say {name!r}." for name in missing))
    if missing := [path for path in NEEDED if path not in hashes]:
        raise Refused(*(f"{MANIFEST} does not name {path}, which every bundle has." for path in missing))
    return dict(manifest)


def _differing(archive: zipfile.ZipFile, hashes: Mapping[str, str]) -> list[str]:
    there = set(archive.namelist()) - {MANIFEST}
    problems = [f"{path} is missing." for path in sorted(set(hashes) - there)]
    problems += [f"{path} is not in the manifest." for path in sorted(there - set(hashes))]
    for path in sorted(there & set(hashes)):
        try:
            same = _hash(archive, path) == hashes[path]
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError):
            problems.append(f"{path} is damaged: it can't be unpacked.")
            continue
        if not same:
            problems.append(f"{path} was changed: its sha256 is not the one in the manifest.")
    return problems


def _hash(archive: zipfile.ZipFile, path: str) -> str:
    digest = hashlib.sha256()
    with archive.open(path) as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


def _read(archive: zipfile.ZipFile, path: str) -> bytes:
    if archive.getinfo(path).file_size > MAX_READ:
        raise Refused(f"{path} is larger than {MAX_READ / 1e6:,.0f} MB.")
    return archive.read(path)


def _json(archive: zipfile.ZipFile, path: str) -> Any:
    try:
        return orjson.loads(_read(archive, path))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError):
        raise Refused(f"{path} is damaged: it can't be unpacked.") from None
    except orjson.JSONDecodeError as error:
        raise Refused(f"{path} is not JSON: {error}.") from None

"""Parquet, Arrow, and the folder of a Hugging Face data set, read by pyarrow."""

import io
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from evaluation.dumps.tables.readers.workbook import check_unpacked
from evaluation.dumps.tables.sheet import MAX_BYTES, RawRows, SizeGuard
from evaluation.refusals import Refused

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 1_000
ARROW, PARQUET = ".arrow", ".parquet"
# What `datasets` writes beside the data, and caches that it leaves.
NO_DATA = ("cache-", "tmp", ".")

Open = Callable[[], Any]


def read_parquet(raw: bytes, limit: int | None = None) -> RawRows:
    return _table([_parquet(io.BytesIO(raw))], limit)


def read_arrow(raw: bytes, limit: int | None = None) -> RawRows:
    return _table([_arrow(io.BytesIO(raw))], limit)


def read_folder(folder: Path, sheet: str = "", limit: int | None = None) -> RawRows:
    """The folder of a data set: `save_to_disk`'s, or a clone from the hub with Parquet files in it."""
    files = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.suffix in (ARROW, PARQUET) and path.is_file()
    }
    if sum(path.stat().st_size for path in files.values()) > MAX_BYTES:
        raise Refused(f"The data set is larger than {MAX_BYTES // 1_000_000} MB.")
    return _splits({name: path.read_bytes for name, path in files.items()}, sheet, limit)


def read_archive(archive: zipfile.ZipFile, sheet: str = "", limit: int | None = None) -> RawRows:
    """The same folder, packed as ZIP so that a browser can send it."""
    check_unpacked(archive)
    names = sorted(each for each in archive.namelist() if PurePosixPath(each).suffix in (ARROW, PARQUET))

    def opener(name: str) -> Open:
        return lambda: archive.read(name)

    return _splits({name: opener(name) for name in names}, sheet, limit)


def _splits(files: Mapping[str, Open], sheet: str, limit: int | None) -> RawRows:
    """The rows of one split, by default of the first one ("train" before others)."""
    splits: dict[str, list[str]] = {}
    for name in files:
        path = PurePosixPath(name)
        if not path.name.startswith(NO_DATA):
            splits.setdefault(_split_of(path), []).append(name)
    if not splits:
        raise Refused("There is neither an Arrow nor a Parquet file in the folder.")
    names = sorted(splits, key=lambda each: (each != "train", each))
    if sheet and sheet not in splits:
        raise Refused(f"There is no split {sheet!r}. The splits are {', '.join(names)}.")
    chosen = sheet or names[0]
    readers = [
        (_parquet if name.endswith(PARQUET) else _arrow)(io.BytesIO(files[name]())) for name in splits[chosen]
    ]
    found = _table(readers, limit)
    return RawRows(found.rows, found.unit, found.names, sheets=names, sheet=chosen)


def _split_of(path: PurePosixPath) -> str:
    """`train` of `train/data-00000-of-00001.arrow` and of `data/train-00000-of-00001.parquet`."""
    stem = path.name.split("-00000")[0].split("-0")[0].removesuffix(path.suffix)
    if stem == "data":
        return path.parent.name or "data"
    return stem


def _parquet(file: io.BytesIO) -> Iterable["pa.RecordBatch"]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        yield from pq.ParquetFile(file).iter_batches(batch_size=BATCH)
    except (pa.ArrowException, OSError):
        raise Refused(
            "The file begins as Parquet, and can't be read as such: it is damaged or cut off."
        ) from None


def _arrow(file: io.BytesIO) -> Iterable["pa.RecordBatch"]:
    """`datasets` writes streams; files with a footer are the same batches."""
    import pyarrow as pa

    try:
        try:
            stream = pa.ipc.open_stream(file)
        except pa.ArrowInvalid:
            file.seek(0)
            reader = pa.ipc.open_file(file)
            yield from (reader.get_batch(number) for number in range(reader.num_record_batches))
        else:
            yield from stream
    except (pa.ArrowException, OSError):
        raise Refused("The file can't be read as Arrow: it is damaged or cut off.") from None


def _table(readers: Iterable[Iterable["pa.RecordBatch"]], limit: int | None) -> RawRows:
    guard = SizeGuard()
    rows: list[tuple[int, list[Any]]] = []
    names: list[str] = []
    for batches in readers:
        for batch in batches:
            names = names or batch.schema.names
            for start in range(0, batch.num_rows, BATCH):
                for record in batch.slice(start, BATCH).to_pylist():
                    cells = [record.get(name) for name in names]
                    guard.add(cells)
                    rows.append((len(rows) + 1, cells))
                    if limit is not None and len(rows) >= limit:
                        return RawRows(rows, "row", names=names)
    return RawRows(rows, "row", names=names)

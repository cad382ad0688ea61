"""Studies from files and to files: Assay's JSONL in both directions, tables out, published releases in.

The format is described in docs/formats.md and by the JSON Schemas in `schema/`.
"""

from evaluation.dumps.exports.study_export import export_study, export_to, formats_of
from evaluation.dumps.formats import FORMATS
from evaluation.dumps.imports.added_items import add_items, preview_items
from evaluation.dumps.imports.dump_import import import_dump
from evaluation.dumps.imports.new_system import NewSystemSource
from evaluation.dumps.imports.revision_file import read_revision
from evaluation.dumps.lines import FileSource, Source
from evaluation.dumps.published import RELEASES, read_release

__all__ = [
    "FORMATS",
    "RELEASES",
    "FileSource",
    "NewSystemSource",
    "Source",
    "add_items",
    "export_study",
    "export_to",
    "formats_of",
    "import_dump",
    "preview_items",
    "read_release",
    "read_revision",
]

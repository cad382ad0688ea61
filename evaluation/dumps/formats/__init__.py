"""The export formats by key: one more is one more module here, which makes an `ExportFormat` named FORMAT."""

import sys

from evaluation.dumps.export_format import ExportFormat
from evaluation.registry import Registry, entries_in

FORMATS: Registry[ExportFormat] = Registry(
    "export format",
    {
        "key": "its name in commands and in the ends of files' names",
        "label": "its name on the exports page",
        "about": "the sentence beside it there",
        "content_type": "for its download",
        "write": "the function that writes a study",
        "place": "its place among the choices",
    },
    lambda: sorted(entries_in(sys.modules[__name__], "FORMAT"), key=lambda each: each.place),
)

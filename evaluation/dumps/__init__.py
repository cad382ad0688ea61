"""Studies from files and to files: Assay's JSONL in both directions, tables out, published releases in.

The format is described in docs/formats.md and by the JSON Schemas in `schema/`.
"""

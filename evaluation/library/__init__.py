"""The library of forms: published studies as drafts to begin from, each a file under `entries/`."""

"""Demo studies: original items, and judgments by simulated raters, so that the report speaks at first sight."""

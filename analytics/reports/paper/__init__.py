"""A report as an author needs it: LaTeX, CSV, plots as files, how to cite it, and an archive of all of them."""

"""The description of what a report shows: tables, plots and blocks, fed to every format alike."""

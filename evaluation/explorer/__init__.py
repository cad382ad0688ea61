"""The item explorer: a study's items as they are found, filtered and read one after another."""

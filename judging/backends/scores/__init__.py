"""Judges that score responses by themselves, without the study's form: their options."""

"""Statistics of a study over tidy arrays: numbers in, frozen results out, no database."""

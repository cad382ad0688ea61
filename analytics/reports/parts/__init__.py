"""Parts of a report beside its figures: what is of the study as a whole, whoever answered which question."""

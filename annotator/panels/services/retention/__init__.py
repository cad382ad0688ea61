"""The end of a study's retention period, and what puts it off."""

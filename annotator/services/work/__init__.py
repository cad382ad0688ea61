"""A participant's work: what comes next, drafts, submits, skips, revisions, and leaving."""

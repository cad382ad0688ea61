"""Form input: posted fields, merged drafts, recorded answers."""

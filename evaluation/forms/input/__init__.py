"""What a form sends or holds: posted fields, merged drafts, recorded answers."""

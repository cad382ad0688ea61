"""Acts that cost somebody money: intended, sent, and settled where their outcome is in doubt."""

"""Coming into a study: its entry rules, consent, the arm, and coming back."""

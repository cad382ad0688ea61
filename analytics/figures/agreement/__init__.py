"""Agreement among raters."""

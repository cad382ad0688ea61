"""Sets of condition-answer-citation entries: their cleaning, their form, and several beside each other."""

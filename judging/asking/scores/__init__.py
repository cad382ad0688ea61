"""Ways of asking for scores: one response at a time, without the study's form."""

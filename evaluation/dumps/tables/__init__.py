"""Tables as people have them: read by libraries, their columns guessed, their rows turned into items' records."""

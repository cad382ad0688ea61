"""The crowd in the API: participants, the quality of their work, and the places for their judgments."""

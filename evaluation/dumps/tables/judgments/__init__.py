"""Judgments in a table: who judged, what they said of a row's responses, and the questions that this answers."""

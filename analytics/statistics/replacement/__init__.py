"""Judges in people's place: how far they lie from people, and how much of people's work they can stand for."""

"""Leaderboards: the systems of a study, ranked as its report ranks them."""

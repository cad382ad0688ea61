"""Systems compared by their win rates: leaderboards, and how far they can be relied on."""

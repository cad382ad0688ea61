"""A made-up platform with an API of its own: stalls with seats, tickets, whole coins, and news under a seal."""

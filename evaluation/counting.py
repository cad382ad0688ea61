"""Numbers of things in the sentences of researchers' pages, commands and histories, which are in English."""


def counted(n: int, one: str, many: str = "") -> str:
    """ "1 query", "2,000 queries"; `many` is the plural where it is not the noun and an s."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"

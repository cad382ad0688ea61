"""Words that several kinds of mismatches say."""


def place_count(n: int) -> str:
    return "1 place" if n == 1 else f"{n} places"


def people_count(n: int) -> str:
    return "1 person" if n == 1 else f"{n} people"


def visit_count(n: int) -> str:
    return "1 visit" if n == 1 else f"{n} visits"

"""Texts that protocols share; each adds what is its own."""

RIGHTS = (
    "Taking part is voluntary. You can stop at any time with **Withdraw**, which is on every page. We keep your "
    "judgments, what you write and how long you took, under a random code; we do not store your IP address."
)
THANKS = "Thank you. Your judgments have been recorded."


def gettext_noop(text: str) -> str:
    """The text as it is; the catalogues have it (`make messages`), so a new study can begin with its translation."""
    return text


def consent(what: str) -> str:
    """The consent text of a study whose task this is."""
    return f"You are invited to take part in a study on language models. {what}\n\n{RIGHTS}"

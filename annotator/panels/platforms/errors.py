"""Errors of a platform's API, which say whether it may have acted all the same, and of its webhooks."""

NOT_FOUND = 404


class NotSetUp(Exception):
    """There is no token for the platform here."""


class PanelError(Exception):
    """The panel refused, in its own words. `sent`: whether it may have acted on the request all the same.

    `status` is HTTP's, whatever the panel's own is: 404 where there is no such thing, 400 or 422 where what was asked
    for is wrong; other ones are about whoever asks.
    """

    def __init__(self, status: int, message: str, *, sent: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.sent = sent


class PanelBusy(PanelError):
    """429 or 5xx, after all the waiting that was allowed. A 429 was not acted on; a 5xx may have been.

    `after`: in how many seconds the panel would have us back, where it said so.
    """

    def __init__(self, status: int, message: str, *, sent: bool, after: float | None = None) -> None:
        super().__init__(status, message, sent=sent)
        self.after = after


class PanelUnreachable(PanelError):
    """No answer. `sent` is False where no connection came about, so that the panel can't have heard of it."""

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(0, message, sent=sent)


class NoSecret(Exception):
    """There is no secret here, so no delivery of a webhook can be verified."""


class NotSigned(Exception):
    """The signature of a delivery is missing or wrong: the sender does not know the secret."""


class NotAnEvent(Exception):
    """A delivery is signed, but it can't be read."""

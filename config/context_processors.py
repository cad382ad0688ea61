"""Variables of every template."""

from django.http import HttpRequest


def csp_nonce(request: HttpRequest) -> dict[str, object]:
    """django-csp calls it CSP_NONCE; django-htmx's script tag reads csp_nonce."""
    return {"csp_nonce": getattr(request, "csp_nonce", "")}

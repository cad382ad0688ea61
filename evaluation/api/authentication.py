"""Authentication by a token in the Authorization header alone. No cookie opens the API, so none can be forged."""

import re
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication as KnoxTokenAuthentication
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request

from evaluation.operations.logins import count_failure

SHAPE = re.compile(rb"assay_[0-9a-f]{64}")
# Enough to tell tokens apart, too little to be one; it stays out of logs and pages all the same.
TOLD_APART = 21


class TokenAuthentication(KnoxTokenAuthentication):
    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """Authenticate by token; an invalid one counts as a failed login, a valid one is never delayed."""
        try:
            found: tuple[Any, Any] | None = super().authenticate(request)
        except AuthenticationFailed:
            said = request.META.get("HTTP_AUTHORIZATION", "").rpartition(" ")[2]
            if count_failure(request._request, f"token {said[:TOLD_APART]}"):
                raise Throttled(wait=settings.ASSAY_LOGIN_DELAY_SECONDS) from None
            raise
        return found

    def authenticate_credentials(self, token: bytes) -> tuple[Any, Any]:
        """Refuse anything that can't be a token before the database is queried: knox decodes it unchecked."""
        if not SHAPE.fullmatch(token):
            raise AuthenticationFailed(_("Invalid token."))
        found: tuple[Any, Any] = super().authenticate_credentials(token)
        return found


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "assay_ and 64 hexadecimal digits"}

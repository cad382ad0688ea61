"""Pages by id: rows that come in meanwhile neither repeat nor hide others."""

from collections.abc import Mapping
from typing import Any

from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param


class IdPagination(BasePagination):
    """Pages in the order of ids. A cursor is the id of the page's last row."""

    newest_first = False

    def paginate_queryset(
        self,
        queryset: Any,
        request: Request,
        view: Any = None,
    ) -> list[Any]:
        size = view.query["page_size"]
        if cursor := view.query.get("cursor"):
            after = int(cursor.removeprefix("c"))
            queryset = queryset.filter(pk__lt=after) if self.newest_first else queryset.filter(pk__gt=after)
        rows = list(queryset.order_by("-pk" if self.newest_first else "pk")[: size + 1])
        self._next = None
        if len(rows) > size:
            last = rows[size - 1]
            after = last["pk"] if isinstance(last, Mapping) else last.pk
            self._next = replace_query_param(request.build_absolute_uri(), "cursor", f"c{after}")
        return rows[:size]

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"next": self._next, "results": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        link = {
            "type": ["string", "null"],
            "format": "uri",
            "description": "The next page; null on the last.",
        }
        return {
            "type": "object",
            "required": ["next", "results"],
            "properties": {"next": link, "results": schema},
        }


class NewestFirstPagination(IdPagination):
    newest_first = True

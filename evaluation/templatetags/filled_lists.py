"""`{% filled_list cl %}`: a list of the admin, without the columns in which none of its rows has anything."""

import re
from typing import Any

from django import template
from django.contrib.admin.templatetags.admin_list import result_list
from django.contrib.admin.views.main import ChangeList

register = template.Library()
EMPTY_CELL = re.compile(r"<t[dh][^>]*>(?:-|&nbsp;)?</t[dh]>")


@register.inclusion_tag("admin/change_list_results.html")
def filled_list(changes: ChangeList) -> dict[str, Any]:
    """Django's table, whose headers keep their numbers: a list is sorted by them."""
    context: dict[str, Any] = result_list(changes)
    headers, rows = context["result_headers"], context["results"]
    kept = [
        at
        for at, header in enumerate(headers)
        if header.get("sorted") or not all(EMPTY_CELL.fullmatch(row[at]) for row in rows)
    ]
    context["result_headers"] = [headers[at] for at in kept]
    context["results"] = [[row[at] for at in kept] for row in rows]
    return context

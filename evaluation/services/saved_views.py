"""Views of a report under a name: saved, and deleted."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from evaluation.models import SavedView, Study
from evaluation.models.saved_view import LONGEST_VIEW_NAME
from evaluation.refusals import Refused
from evaluation.services.history import log_action
from evaluation.storable import storable

# More of them than anybody would look through.
MOST_SAVED = 100


def save_view(study: Study, *, name: str, filters: Mapping[str, Any], by: Any) -> SavedView:
    """Give a view a name; `filters` are in their canonical form. Refused if the name is another view's."""
    name = " ".join(storable(name).split())
    if not name:
        raise Refused("The view needs a name.")
    if len(name) > LONGEST_VIEW_NAME:
        raise Refused(f"The name is too long: {LONGEST_VIEW_NAME} characters at most.")
    if not filters:
        raise Refused("Only a part of the study can be saved as a view: choose at least one filter.")
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if study.saved_views.filter(name=name).exists():
            raise Refused(f"There is a view named {name!r} already. Delete it first, or choose another name.")
        if study.saved_views.count() >= MOST_SAVED:
            raise Refused(f"The study has {MOST_SAVED} saved views, which is the limit. Delete one first.")
        view = SavedView.objects.create(study=study, name=name, filters=dict(filters), created_by=by)
        log_action(study=study, by=by, message=f"Saved the view {name!r} of the report.")
    return view


def delete_view(study: Study, *, name: str, by: Any) -> None:
    """Forget the name; Refused if there is none. The report of the same filters stays what it was."""
    with transaction.atomic():
        deleted, _ = study.saved_views.filter(name=name).delete()
        if not deleted:
            raise Refused(f"There is no saved view named {name!r}.")
        log_action(study=study, by=by, message=f"Deleted the saved view {name!r} of the report.")

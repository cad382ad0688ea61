"""Bonuses, by lines of ids and amounts. Their sum is shown before it is paid."""

from decimal import Decimal
from typing import Any

from django import forms
from django.http import HttpRequest

from annotator.models import Panel, PanelRecord
from annotator.panels.admin.decisions import chosen_ids, id_list
from annotator.panels.admin.pages import chosen_record_target, panel_url, remedy, with_refusals
from annotator.panels.money.bonus_lines import read_bonus_lines
from annotator.panels.money.decisions import intend_bonuses
from annotator.panels.platforms import get_platform
from annotator.panels.tasks import queue_acts
from evaluation.admin.pages import ConfirmedAction
from evaluation.counting import counted
from evaluation.refusals import Refused


class BonusForm(forms.Form):
    """Lines first; the sum is shown before the second press pays it."""

    lines = forms.CharField(
        label="Bonuses, one per line",
        strip=False,
        widget=forms.Textarea(attrs={"rows": 10, "spellcheck": "false", "class": "lines"}),
        help_text="On each line the id of a submission or participant, a comma and the amount, such as 0.50.",
    )
    purpose = forms.CharField(
        max_length=120, label="Purpose", help_text="Nobody ever gets two bonuses for the same purpose."
    )
    reason = forms.CharField(
        required=False,
        max_length=300,
        label="Note for the history",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    total = forms.CharField(required=False, widget=forms.HiddenInput)


@remedy("bonus", "Pay a bonus", "bonuses/", chosen_record_target)
def bonuses(request: HttpRequest, panel: Panel) -> ConfirmedAction:
    records = list(PanelRecord.objects.filter(panel=panel).order_by("pk"))
    shown: dict[str, Any] = {"amounts": [], "total": None, "currency": panel.study.currency}

    def do(data: dict[str, Any]) -> str:
        amounts = read_bonus_lines(data["lines"], records)
        total = sum(amounts.values(), Decimal(0))
        if data["total"] != str(total):
            shown.update(amounts=list(amounts.items()), total=total)
            raise Refused  # to be confirmed first, beside the sum
        with_refusals(lambda: intend_bonuses(panel, amounts, data["purpose"], request.user))
        queue_acts(panel.pk)
        return (
            f"Paying {counted(len(amounts), 'bonus', 'bonuses')} of {total} "
            f"{panel.study.currency} in total for “{data['purpose']}”: {id_list(list(amounts))}."
        )

    chosen = chosen_ids(request.GET.getlist("record"))
    ticked = [each.external_id for each in records if each.pk in set(chosen)]
    return ConfirmedAction(
        title="Pay bonuses",
        text=f"{get_platform(panel.platform).label} pays a bonus every time it is requested. So Assay "
        "sends each one only once; if no answer comes, it waits here until you have checked it "
        "there.",
        button="Show the total",
        form=BonusForm,
        initial={"lines": "\n".join(f"{each}," for each in ticked)},
        do=do,
        back=panel_url(panel.study),
        template="admin/annotator/bonuses.html",
        context=shown,
    )

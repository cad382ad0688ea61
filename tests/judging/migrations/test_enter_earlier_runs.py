"""Runs from before the ledger are entered in it, a row each; nothing is entered twice, whichever way one migrates."""

from decimal import Decimal

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from evaluation.services import verify_study
from judging.models import Judge, LedgerEntry, Run
from judging.services import heuristic_judge
from judging.services.calls.ledger import study_spent
from tests import factories
from tests.judging import endpoint
from tests.judging.build import judged, make_judge
from tests.judging.migrations.test_judge_runs import back_to_today, migrate  # noqa: F401 - a fixture

BEFORE = [("judging", "0012_runs_of_any_work")]
EMPTY = [("judging", "0013_ledger")]
ENTERED = [("judging", "0014_enter_earlier_runs")]
PRICES = {"price_prompt": Decimal(1_000), "price_completion": Decimal(1_000), "max_tokens": 50}


def entries(ledger):
    rows = ledger.objects.order_by("run").values_list(
        "study", "endpoint", "model", "purpose", "run", "calls", "prompt_tokens", "completion_tokens", "cost"
    )
    return list(rows)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("back_to_today")
def test_what_earlier_runs_took_is_entered_and_forgotten_and_entered_again(owner):
    study = factories.launch(factories.make_study("earlier", owner=owner, queries=3))
    with endpoint.serve() as served:
        main, _ = judged(study, make_judge(study, served, "longer", **PRICES))
        trial, _ = judged(study, make_judge(study, served, "coin", name="free"), purpose="trial", max_items=1)
    judged(study, heuristic_judge(study, "shorter"))
    here = main.judging.judge.endpoint_id
    expected = [
        (study.pk, here, run.judging.judge.model, purpose, run.pk, run.calls.count())
        for run, purpose in ((main, "judging"), (trial, "trial"))
    ]
    spent = study_spent(study.pk)
    assert spent == main.spent > 0

    migrate(BEFORE)
    old = migrate(EMPTY)
    assert entries(old.get_model("judging", "LedgerEntry")) == []
    # As judges were before models had prices: nought, and not empty.
    old.get_model("judging", "Judge").objects.filter(name="free").update(price_prompt=0, price_completion=0)
    new = migrate(ENTERED)
    found = entries(new.get_model("judging", "LedgerEntry"))
    assert [row[:6] for row in found] == expected
    assert [row[8] for row in found] == [main.spent, 0]
    tokens = main.calls.values_list("prompt_tokens", "completion_tokens")
    assert found[0][6:8] == tuple(map(sum, zip(*tokens, strict=True)))

    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())
    assert study_spent(study.pk) == spent
    assert LedgerEntry.objects.count() == 2
    prices = dict(Judge.objects.values_list("name", "price_prompt"))
    assert (prices["llm"], prices["free"]) == (1_000, None)
    assert Run.objects.count() == 3
    assert list(verify_study(study)) == []

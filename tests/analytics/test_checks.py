"""A protocol's order of headings is checked when the site starts."""

from django.core.checks import run_checks

from evaluation.protocols import PROTOCOLS
from evaluation.protocols.aspects import Aspects


def found():
    return [each.msg for each in run_checks() if each.id == "assay.E014"]


def test_headings_that_do_not_exist_are_named():
    made = type("Odd", (Aspects,), {"key": "odd", "headings": ("judges", "weather")})
    assert found() == []
    with PROTOCOLS.registered(made()):
        assert found() == ["The protocol 'odd' names a report heading that does not exist: 'weather'."]

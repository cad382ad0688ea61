"""What an endpoint's misbehaviours do to a run, as a table at the end of the tests' output."""

from __future__ import annotations

from typing import Any

# The name under which a test tells of one: (behaviour, what became of the run, the error that was kept).
MISBEHAVIOUR = "misbehaviour"
# And a sentence on what kills did to a run.
SURVIVAL = "survival"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    told = [
        (report.nodeid, name, value)
        for report in terminalreporter.stats.get("passed", [])
        for name, value in getattr(report, "user_properties", [])
    ]
    rows = {tuple(value) for _, name, value in told if name == MISBEHAVIOUR}
    if rows:
        terminalreporter.section("what an endpoint does to a run of 8 calls")
    for behaviour, became, error in sorted(rows):
        terminalreporter.write_line(f"{behaviour[:34]:<34}  {became:<42}  {error[:90]}")
    for test, name, value in told:
        if name == SURVIVAL:
            terminalreporter.write_line(f"{test.rpartition('::')[2]}: {value}")

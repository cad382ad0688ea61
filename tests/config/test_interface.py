"""Names that others hold on to are those of the list beside this file, so that none changes by the way."""

from tests.config.interface import LIST, lines


def test_nothing_that_others_rely_on_is_renamed():
    listed, found = LIST.read_text().splitlines(), lines()
    gone, added = sorted(set(listed) - set(found)), sorted(set(found) - set(listed))
    assert (gone, added) == ([], []), (
        "Links, scripts, deployments, databases, queues or files use these names. If the change is meant, write the "
        "list anew by `python -m tests.config.interface`."
    )


def test_the_list_is_of_every_kind_of_name():
    kinds = {line.partition(" ")[0] for line in LIST.read_text().splitlines()}
    assert kinds == {
        "address", "app", "check", "column", "command", "dump", "migration", "report", "setting", "task"
    }  # fmt: skip

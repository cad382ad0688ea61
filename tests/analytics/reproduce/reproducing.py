"""Printed figures by table and name."""

import json

from django.core.management import call_command


def reproduced(capsys, release, path, *options):
    """{(start of the table's title, name): figure}, and the whole."""
    call_command("reproduce", release, str(path), *options, "--format", "json")
    found = json.loads(capsys.readouterr().out)
    figures = {
        (table["title"].split(" (")[0], each["name"]): each
        for table in found["tables"]
        for each in table["figures"]
    }
    return figures, found


def values(figures, table, key="ours", digits=4):
    """{name: value} of the figures of one table that have one."""
    return {
        name: round(each[key], digits)
        for (title, name), each in figures.items()
        if title == table and each[key] is not None
    }

"""What a figure reads of another: by its class, and named in `beside`."""

import ast
import inspect
import sys

import pytest

from analytics.figures.figure import Figure
from analytics.figures.registry import FIGURES

READS = {"of", "records", "is_in"}


def read_by(module):
    """The keys of the figures whose records a module reads."""
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Attribute) and node.attr in READS and isinstance(node.value, ast.Name):
            named = getattr(module, node.value.id, None)
            kind = named if isinstance(named, type) else type(named)
            if issubclass(kind, Figure):
                yield kind.key


@pytest.mark.parametrize("key", FIGURES)
def test_a_figure_names_those_whose_records_it_reads(key):
    figure = FIGURES[key]
    assert set(read_by(sys.modules[type(figure).__module__])) <= {key, *figure.beside}


def test_some_figures_read_others():
    module = sys.modules[type(FIGURES["preferences/win_rates"]).__module__]
    assert "agreement/percentage" in set(read_by(module))

"""The project's modules: no cycle of imports, and no platform known by name."""

import ast
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.config.source_tree import module_name, trees


def imports(tree):
    """(module, names) of every import, those inside functions and those for types alone too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield node.module or "", [each.name for each in node.names]
        elif isinstance(node, ast.Import):
            yield from ((each.name, []) for each in node.names)


def imported(tree, modules):
    """The project's modules that a module imports: of a package the module inside it that the name is of."""
    for origin, names in imports(tree):
        inside = {f"{origin}.{name}" for name in names} & modules
        yield from inside
        if origin in modules and len(inside) < max(len(names), 1):
            yield origin


def graph_of(modules):
    names = set(modules)
    return {name: set(imported(tree, names)) - {name} for name, tree in modules.items()}


def cycle_in(graph):
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as found:
        return " -> ".join(reversed(found.args[1]))
    return None


def test_no_module_imports_one_that_imports_it():
    modules = {module_name(path): tree for path, tree in trees().items()}
    assert len(modules) > 300
    assert cycle_in(graph_of(modules)) is None


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("from a.two import x", "import a.one", "a.one -> a.two -> a.one"),
        ("from a.two import x", "def later():\n    from a import one", "a.one -> a.two -> a.one"),
        ("from a.two import x", "if TYPE_CHECKING:\n    from a.one import X", "a.one -> a.two -> a.one"),
        ("from a import x", "from a.one import y", None),
    ],
)
def test_a_cycle_would_be_found(one, other, found):
    made = graph_of({name: ast.parse(text) for name, text in (("a.one", one), ("a.two", other), ("a", ""))})
    assert set((cycle_in(made) or "").split(" -> ")) == set((found or "").split(" -> "))


def test_a_platform_with_an_api_is_named_in_its_package_alone():
    knowing = [
        module_name(path)
        for path, tree in trees().items()
        if any(isinstance(node, ast.Constant) and node.value == "prolific" for node in ast.walk(tree))
    ]
    assert knowing == ["annotator.panels.prolific.platform"]

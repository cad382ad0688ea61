"""No private name of a library is used: a version that renames it would break what no test of its own covers.

Those that a library documents, or has no public name for, are listed with their reason.
"""

import ast

import pytest

from tests.config.source_tree import PACKAGES, ROOT, trees

ALLOWED = {
    "_meta": "documented by Django as the interface to a model's fields",
    "_state": "documented by Django: a saved row from one that is to be added",
    "_default_manager": "documented by Django: the manager of a model that is not known by name",
    "_find_reload_model": "a migration's state has no other place where the classes to make anew are chosen",
    "_raw_delete": "delete() collects by relations that protect; a rehearsal's tables are emptied in their order",
    "_exit": "documented by Python: ends a forked process without its parent's clean-up",
    "_request": "the only way from a request of REST framework to the one of Django, which django-axes marks",
    "_map_basic_serializer": "drf-spectacular has no other place where a serializer's schema can be closed",
    "_get_response_bodies": "drf-spectacular has no other place where every operation gets its errors",
}
# Where a private name may stand as a string instead.
BY_NAME = {"getattr", "setattr", "hasattr", "delattr", "get", "pop"}


def is_private(name):
    return name.startswith("_") and not name.startswith("__") and len(name) > 1


def is_own(node):
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def defined(tree):
    """The private names that a module gives to what is its own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_own(node.value):
            yield node.attr


def foreign(tree, own):
    """The private names that a module uses of others, with their lines; `own` are those of the project's classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            if not is_own(node.value) or node.attr not in own:
                yield node.attr, node.lineno
        elif isinstance(node, ast.ImportFrom) and not node.level:
            if (node.module or "").partition(".")[0] not in PACKAGES:
                parts = [*(node.module or "").split("."), *(each.name for each in node.names)]
                yield from ((part, node.lineno) for part in parts if is_private(part))
        elif isinstance(node, ast.Import):
            parts = [part for each in node.names for part in each.name.split(".")]
            yield from ((part, node.lineno) for part in parts if is_private(part))
        elif isinstance(node, ast.Call):
            called = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
            if called in BY_NAME:
                names = [each.value for each in node.args if isinstance(each, ast.Constant)]
                strings = (name for name in names if isinstance(name, str) and name.isidentifier())
                yield from ((name, node.lineno) for name in strings if is_private(name))


def test_only_listed_private_names_are_used():
    own = {name for tree in trees().values() for name in defined(tree)}
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path, tree in trees().items()
        for name, line in foreign(tree, own)
        if name not in ALLOWED
    ]
    assert not found, "private names of others, without a reason in ALLOWED:\n" + "\n".join(found)


def test_every_listed_name_is_used():
    used = {name for tree in trees().values() for name, _ in foreign(tree, set())}
    assert set(ALLOWED) <= used


@pytest.mark.parametrize(
    "line",
    [
        "connection._prepared.get(1)",
        "response._has_been_logged = True",
        "self._session_cache",
        "super()._parse()",
        "from django.db.models.query import _private",
        "from psycopg._queries import PostgresQuery",
        "import celery._state",
        "getattr(request, '_cached_user')",
        "request.__dict__.get('_wrapped')",
    ],
)
def test_a_planted_private_name_is_found(line):
    assert list(foreign(ast.parse(line), {"_of_our_own"}))


@pytest.mark.parametrize(
    "line", ["self._of_our_own", "from evaluation.design import _part", "x.public", "_()", "a.__class__"]
)
def test_a_name_of_our_own_is_none_of_these(line):
    assert not list(foreign(ast.parse(line), {"_of_our_own"}))

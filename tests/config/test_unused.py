"""Nothing stands in the packages that only tests use, and no template only includes another."""

import ast
import re
from collections import Counter
from functools import cache

import pytest

from tests.config.source_tree import ROOT, trees

# Classes that frameworks find by their base or their place; our own code names them nowhere.
LOOKED_UP = re.compile(r"(Admin|Config|Command|Scheme)$")
NAMED_BY_FRAMEWORKS = {
    "config/settings.py",  # Django reads it by name
    "config/formats/en/formats.py",  # so it does FORMAT_MODULE_PATH
    "config/urls.py",
    "config/celery.py",
}
# Of a word that stands once: where, and who reads it.
READ_BY_OTHERS: dict[str, dict[str, str]] = {
    "evaluation/database/create_models.py": {"CreateModels": "the migrations"}
}


def passed_on(path):
    """A package's own code: what it only hands on to those who import it is not used by that."""
    own = [
        node
        for node in trees()[path].body
        if not isinstance(node, ast.ImportFrom)
        and not (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
    ]
    return "\n".join(ast.unparse(node) for node in own)


@cache
def words():
    """How often each word stands in the code that ships, in templates and in benchmarks."""
    texts = [passed_on(path) if path.name == "__init__.py" else path.read_text() for path in trees()]
    texts += [path.read_text() for path in (ROOT / "templates").rglob("*.html")]
    texts += [path.read_text() for path in (ROOT / "benchmarks").rglob("*.py")]
    return Counter(word for text in texts for word in re.findall(r"\w+", text))


def defined(path):
    """The functions and constants of a module that nothing decorates."""
    for node in trees()[path].body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.decorator_list:
            yield node.name
        elif isinstance(node, ast.Assign):
            names = (target.id for target in node.targets if isinstance(target, ast.Name))
            yield from (name for name in names if name != "__all__")
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def unused():
    counted = words()
    for path in trees():
        name = path.relative_to(ROOT).as_posix()
        if name in NAMED_BY_FRAMEWORKS:
            continue
        for word in defined(path):
            if counted[word] == 1 and not LOOKED_UP.search(word) and word not in READ_BY_OTHERS.get(name, {}):
                yield f"{name}: {word}"


def test_everything_that_stands_in_a_module_is_used():
    assert list(unused()) == []


def test_every_exception_is_still_one():
    counted = words()
    for name, exceptions in READ_BY_OTHERS.items():
        for word in exceptions:
            assert word in set(defined(ROOT / name)), f"{name} has no {word} any more"
            assert counted[word] == 1, f"{word} is used"


@pytest.mark.parametrize(
    "path", sorted((ROOT / "templates").rglob("*.html")), ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_no_template_only_includes_another(path):
    text = re.sub(r"\{#.*?#\}|\{% (load|comment|endcomment)[^%]*%\}", "", path.read_text(), flags=re.S)
    assert not re.fullmatch(r"\s*\{% include [^%]*%\}\s*", text)
    assert not re.fullmatch(r"\s*\{% extends [^%]*%\}\s*", text)

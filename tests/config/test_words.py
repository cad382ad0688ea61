"""One word for one thing: the glossary's words in names and texts, and one meaning for the name of a class."""

import ast
import re
from collections import defaultdict

import pytest

from tests.config.source_tree import ROOT, module_name, trees

GLOSSARY = (ROOT / "docs/glossary.md").read_text()
BANNED = [
    word
    for line in GLOSSARY.splitlines()
    if line.startswith("| ") and not line.startswith("| Word")
    for word in re.split(r",\s*", line.split("|")[3].strip())
    if word.strip("- ")
]


# Frameworks look these up by their name.
OF_FRAMEWORKS = {"Command", "Migration", "Meta", "DatabaseWrapper"}
TRANSLATES = {"_", "gettext", "gettext_lazy", "ngettext"}


ANY_BANNED = re.compile(rf"\b({'|'.join(BANNED)})s?\b", re.IGNORECASE)


def banned_in(words):
    if not ANY_BANNED.search(words):
        return set()
    return {word for word in BANNED if re.search(rf"\b{word}s?\b", words, re.IGNORECASE)}


def spelled_out(name):
    """An identifier as words."""
    return re.sub(r"_+|(?<=[a-z0-9])(?=[A-Z])", " ", name)


def names_in(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def texts_in(tree):
    """Texts that are translated."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in TRANSLATES:
            yield from (each.value for each in node.args if isinstance(each, ast.Constant))


def test_there_are_few_banned_words():
    assert 10 <= len(BANNED) <= 20


def test_the_banned_are_found():
    assert banned_in(spelled_out("CrowdworkerForm")) == {"crowdworker"}
    assert banned_in(spelled_out("make_annotations")) == {"annotation"}
    assert banned_in("surveyor") == set()
    assert list(texts_in(ast.parse('f(_("An opinion"))'))) == ["An opinion"]


def test_names_in_the_code_are_the_glossarys():
    found = defaultdict(set)
    for path, tree in trees().items():
        for name in {path.stem, *names_in(tree)}:
            for word in banned_in(spelled_out(name)):
                found[word].add(f"{module_name(path)}: {name}")
    assert found == {}


def test_texts_on_screens_are_the_glossarys():
    found = defaultdict(set)
    for path, tree in trees().items():
        for text in texts_in(tree):
            for word in banned_in(str(text)):
                found[word].add(f"{module_name(path)}: {text}")
    for path in (ROOT / "templates").rglob("*.html"):
        text = re.sub(
            r"<[^>]*>|\{[{#].*?[}#]\}|\{% (?!translate|blocktranslate)[^%]*%\}", " ", path.read_text()
        )
        for word in banned_in(text):
            found[word].add(str(path.relative_to(ROOT)))
    assert found == {}


@pytest.fixture(scope="module")
def modules_by_class():
    found = defaultdict(set)
    for path, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].add(module_name(path))
    return found


def test_the_name_of_a_class_means_one_thing(modules_by_class):
    twice = {
        name: sorted(modules)
        for name, modules in modules_by_class.items()
        if len(modules) > 1 and name not in OF_FRAMEWORKS
    }
    assert twice == {}


def test_no_docstring_opens_with_a_question_word():
    opening = re.compile(r"(What|Who|Whom|Whose|Whether|How|Which)\b")
    found = [
        f"{module_name(path)}: {text.splitlines()[0]}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if opening.match(text := ast.get_docstring(node) or "")
    ]
    assert found == []

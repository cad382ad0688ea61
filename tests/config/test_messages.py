"""The catalogues of participants' texts: complete, compiled, and nothing in them that the source has not."""

import gettext
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from evaluation.models import Language

ROOT = Path(__file__).parents[2]
TRANSLATED = [each for each in Language.values if each != Language.ENGLISH]


def load() -> ModuleType:
    """`make messages`, as a module."""
    spec = importlib.util.spec_from_file_location("messages", ROOT / ".ci" / "messages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def messages() -> ModuleType:
    return load()


def test_every_language_of_a_study_has_a_catalogue(messages):
    assert sorted(messages.LANGUAGES) == sorted(TRANSLATED)


@pytest.mark.parametrize("language", TRANSLATED)
def test_catalogue_source_and_compiled_file_agree(messages, language):
    assert list(messages.problems(language)) == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_writing_it_anew_changes_nothing(messages, language):
    assert messages.po_text(messages.update(language)) == messages.po_of(language).read_bytes()


@pytest.mark.parametrize("language", TRANSLATED)
def test_plural_forms_are_for_the_numbers_that_they_are_written_for(messages, language):
    with messages.po_of(language).with_suffix(".mo").open("rb") as file:
        found = gettext.GNUTranslations(file)
    said = {n: found.ngettext("%(n)s skip left", "%(n)s skips left", n) % {"n": n} for n in range(121)}
    assert len({text.replace(str(n), "n") for n, text in said.items()}) == {"ar": 5}.get(
        language, 2 - (language == "de")
    )
    # Every number but zero, one and two, which have words, is told.
    assert all(str(n) in said[n] for n in range(3, 121))


@pytest.fixture
def copied(messages, tmp_path, monkeypatch):
    """A copy of the German catalogue that may be spoilt."""
    path = tmp_path / "django.po"
    original = messages.po_of("de")
    path.write_bytes(original.read_bytes())
    path.with_suffix(".mo").write_bytes(original.with_suffix(".mo").read_bytes())
    monkeypatch.setattr(messages, "po_of", lambda language: path)
    source = messages.extract()
    monkeypatch.setattr(messages, "extract", lambda: source)
    monkeypatch.setattr(messages, "ROOT", tmp_path)
    return path


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ('msgid "Submit and continue"', 'msgid "Submit and go on"', "missing: Submit and continue"),
        (
            'msgid "Submit and continue"',
            'msgid "Submit and go on"',
            "no longer in the source: Submit and go on",
        ),
        ('msgstr "Abschicken und weiter"', 'msgstr ""', "not translated: Submit and continue"),
        ('msgstr "Abschicken und weiter"', 'msgstr "Abschicken"', "was not made of django.po"),
        ('msgstr "Rang %(rank)s"', 'msgstr "Rang %(rang)s"', "other placeholders (%(rang)s, %(rank)s)"),
        ("plural=(n != 1);", "plural=(n > 1);", "its Plural-Forms are not"),
        (
            '#: templates/404.html\nmsgid "Page',
            '#: templates/404.html\n#, fuzzy\nmsgid "Page',
            "marked as fuzzy",
        ),
    ],
)
def test_what_is_wrong_with_a_catalogue_is_told(messages, copied, old, new, wrong):
    text = copied.read_text()
    assert old in text
    copied.write_text(text.replace(old, new))
    assert [each for each in messages.problems("de") if wrong in each]


def test_a_sentence_that_is_new_in_a_module_is_extracted(messages, tmp_path, monkeypatch):
    monkeypatch.setattr(messages, "ROOT", tmp_path)
    module = tmp_path / "pages.py"
    module.write_text('_("One " "sentence.")\nngettext("%(n)s item", "%(n)s items", n)\ngettext(text)\n')
    assert [text for text, _ in messages.in_module(module)] == [
        "One sentence.",
        ("%(n)s item", "%(n)s items"),
    ]

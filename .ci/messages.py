"""The catalogues of participants' texts: `python .ci/messages.py` extracts and compiles them, with --check it only
says what is wrong with them, and with how many sentences.

Extracted is what participants can meet: the sentences of MODULES and TEMPLATES, and what a new study begins with.
Researchers' pages are in English.
"""

import ast
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
# Plural-Forms of each language, as Django's own catalogues have them.
LANGUAGES = {
    "de": "nplurals=2; plural=(n != 1);",
    "es": "nplurals=2; plural=(n != 1);",
    "ar": "nplurals=6; plural=n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 && "
    "n%100<=99 ? 4 : 5;",
}
MODULES = (
    "annotator/views/*.py", "annotator/views/shared/*.py", "annotator/services/work/*.py",
    "annotator/panels/platforms/*.py", "annotator/panels/*/endings.py", "evaluation/forms/**/*.py",
    "evaluation/templatetags/*.py", "evaluation/protocols/*.py", "evaluation/dumps/derivations/*.py",
    "judging/services/revisions/*.py",
)  # fmt: skip
TEMPLATES = (
    "base.html",
    "404.html",
    "500.html",
    "503.html",
    "507.html",
    "annotator/*.html",
    "evaluation/_*.html",
    "evaluation/protocols/*.html",
)
# A study's page has it, for its members.
NOT_FOR_PARTICIPANTS = ("evaluation/_rehearsal.html",)
ONE = {"_", "gettext", "gettext_lazy", "gettext_noop"}
SEVERAL = {"ngettext", "ngettext_lazy"}
PLACES = re.compile(r"%\(\w+\)[sd]|\{\w+\}")
Found = Iterator[tuple[str | tuple[str, str], str]]


def in_module(path: Path) -> Found:
    """The sentences of a module's calls, and where they stand."""
    where = path.relative_to(ROOT).as_posix()
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        wanted = 1 if name in ONE else 2 if name in SEVERAL else 0
        texts = [each.value for each in node.args[:wanted] if isinstance(each, ast.Constant)]
        if wanted and len(texts) == wanted:
            yield (texts[0] if wanted == 1 else (texts[0], texts[1])), where


def in_beginnings() -> Found:
    """The sentences that a new study begins with, whatever they are put together of, and where that is done."""
    from evaluation.models import Study
    from evaluation.protocols import PROTOCOLS, codebooks
    from evaluation.protocols.attributes import FILE
    from evaluation.protocols.texts import translate_question

    found: list[tuple[str, Path]] = [
        (Study._meta.get_field("asker").default, ROOT / "evaluation/models/study.py")
    ]
    for protocol in PROTOCOLS.values():
        module = ROOT / f"{type(protocol).__module__.replace('.', '/')}.py"
        found += [(text, module) for text in protocol.default_texts().values()]
        for question in protocol.default_questions():
            translate_question(question, _noting(found, module))
        for attribute in protocol.default_attributes():
            attribute.translated(_noting(found, FILE))
    for name in codebooks.CODEBOOKS:
        translate_question(
            codebooks.codebook_question(name), _noting(found, codebooks.FOLDER / f"{name}.json")
        )
    yield from ((text, path.relative_to(ROOT).as_posix()) for text, path in found if text)


def _noting(found: list[tuple[str, Path]], path: Path) -> Callable[[str], str]:
    def note(text: str) -> str:
        found.append((text, path))
        return text

    return note


def in_template(name: str) -> Found:
    """The sentences of a template's tags as it asks for them when it is rendered."""
    from django.template.loader import get_template
    from django.templatetags.i18n import BlockTranslateNode, TranslateNode
    from django.utils.translation import trim_whitespace

    template: Any = get_template(name).template  # type: ignore[attr-defined]
    for node in _nodes(template.nodelist):
        if isinstance(node, TranslateNode):
            yield str(node.filter_expression.var.literal), f"templates/{name}"
        elif isinstance(node, BlockTranslateNode):
            texts = [node.render_token_list(each)[0] for each in (node.singular, node.plural) if each]
            texts = [trim_whitespace(each) if node.trimmed else each for each in texts]
            yield (texts[0] if len(texts) == 1 else (texts[0], texts[1])), f"templates/{name}"


def _nodes(nodelist: Any) -> Iterator[Any]:
    """All nodes of this template, not of those that it includes or extends."""
    for node in nodelist:
        yield node
        for each in {*getattr(node, "child_nodelists", ()), "nodelist"}:
            yield from _nodes(getattr(node, each, None) or ())
        for _, inner in getattr(node, "conditions_nodelists", ()):
            yield from _nodes(inner)


def extract() -> dict[str, tuple[str | tuple[str, str], set[str]]]:
    """Every sentence of the source by its singular, and the files that it stands in."""
    found: dict[str, tuple[str | tuple[str, str], set[str]]] = {}
    paths = sorted(path for pattern in MODULES for path in ROOT.glob(pattern))
    templates = sorted(
        path.relative_to(ROOT / "templates").as_posix()
        for pattern in TEMPLATES
        for path in (ROOT / "templates").glob(pattern)
    )
    sources = [in_module(path) for path in paths]
    sources += [in_template(name) for name in templates if name not in NOT_FOR_PARTICIPANTS]
    sources += [in_beginnings()]
    for source in sources:
        for text, where in source:
            key = text if isinstance(text, str) else text[0]
            known, places = found.setdefault(key, (text, set()))
            # What is counted in one place and not in another is one message, with plural forms.
            found[key] = (text if isinstance(known, str) else known, places | {where})
    return found


def po_of(language: str) -> Path:
    return ROOT / "locale" / language / "LC_MESSAGES" / "django.po"


def read(language: str) -> Catalog:
    path = po_of(language)
    if not path.exists():
        return Catalog(locale=language)
    with path.open("rb") as file:
        return read_po(file, locale=language)


def update(language: str) -> Catalog:
    """The catalogue with the sentences of the source: what it has stays translated, what is gone is dropped."""
    old, new = read(language), Catalog(locale=language, charset="utf-8", fuzzy=False)
    new._num_plurals, new._plural_expr = _plural(language)
    for key, (text, places) in sorted(extract().items()):
        known = old.get(key)
        flags = {"python-format"} if "%(" in key else set()
        same = known is not None and isinstance(known.id, str) == isinstance(text, str)
        kept = known.string if known is not None and same else ""
        new.add(text, kept, locations=[(place, None) for place in sorted(places)], flags=flags)
    return new


def _plural(language: str) -> tuple[int, str]:
    number, _, rule = LANGUAGES[language].partition(";")
    return int(number.partition("=")[2]), rule.strip().removeprefix("plural=").removesuffix(";")


def po_text(catalog: Catalog) -> bytes:
    """The catalogue as it is committed: without dates and lines, which change when nothing else does."""
    out = io.BytesIO()
    write_po(out, catalog, width=110, omit_header=True, include_lineno=False, sort_output=True)
    language = str(catalog.locale)
    head = (
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n'
        f'"Content-Transfer-Encoding: 8bit\\n"\n"Language: {language}\\n"\n"Plural-Forms: {LANGUAGES[language]}\\n"\n\n'
    )
    return head.encode() + out.getvalue()


class Compiled(Catalog):
    """A catalogue whose header says what gettext needs and nothing of when it was made."""

    @property
    def mime_headers(self) -> list[tuple[str, str]]:  # type: ignore[override]
        language = str(self.locale)
        content = ("Content-Type", "text/plain; charset=utf-8")
        return [content, ("Language", language), ("Plural-Forms", LANGUAGES[language])]


def mo_bytes(language: str) -> bytes:
    """What the .po compiles to, always the same bytes."""
    compiled = Compiled(locale=language)
    for message in read(language):
        if message.id:
            compiled.add(message.id, message.string)
    out = io.BytesIO()
    write_mo(out, compiled)
    return out.getvalue()


def problems(language: str) -> Iterator[str]:
    """Sentences that say what is wrong with a language's files."""
    path = po_of(language)
    if not path.exists():
        yield f"{language}: there is no {path.relative_to(ROOT)}"
        return
    catalog, source = read(language), extract()
    if f"Plural-Forms: {LANGUAGES[language]}" not in path.read_text():
        yield f"{language}: its Plural-Forms are not “{LANGUAGES[language]}”"
    known = {_key(message): message for message in catalog if message.id}
    yield from (f"{language}: missing: {key}" for key in source if key not in known)
    yield from (f"{language}: no longer in the source: {key}" for key in known if key not in source)
    yield from (f"{language}: obsolete: {key}" for key in catalog.obsolete)
    for key, message in known.items():
        yield from (f"{language}: {wrong}: {key}" for wrong in _wrong(message, _plural(language)[0]))
    compiled = path.with_suffix(".mo")
    if not compiled.exists() or compiled.read_bytes() != mo_bytes(language):
        yield f"{language}: {compiled.relative_to(ROOT)} was not made of {path.name}; run make messages"


def _key(message: Message) -> str:
    return message.id if isinstance(message.id, str) else message.id[0]


def _wrong(message: Message, forms: int) -> Iterator[str]:
    strings = [message.string] if isinstance(message.string, str) else list(message.string)
    if message.fuzzy:
        yield "marked as fuzzy"
    if len(strings) != (1 if isinstance(message.id, str) else forms) or not all(strings):
        yield "not translated"
        return
    ids = [message.id] if isinstance(message.id, str) else list(message.id)
    wanted = set(PLACES.findall(ids[-1]))
    for n, text in enumerate(strings):
        places = set(PLACES.findall(text))
        # Words may stand for one and two: إجابتان.
        left_out = wanted - places
        may_lack = (
            {"%(n)s", "{n}", "%(least)s"} if len(strings) > 1 and n < (3 if forms == 6 else 1) else set()
        )
        if places - wanted or left_out - may_lack:
            yield f"other placeholders ({', '.join(sorted(places ^ wanted))})"
        if text[:1].isspace() != ids[0][:1].isspace() or text[-1:].isspace() != ids[0][-1:].isspace():
            yield "begins or ends with another space"


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    sys.path.insert(0, str(ROOT))
    import django

    django.setup()
    if "--check" not in sys.argv:
        for language in LANGUAGES:
            path = po_of(language)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(po_text(update(language)))
            path.with_suffix(".mo").write_bytes(mo_bytes(language))
    found = [problem for language in LANGUAGES for problem in problems(language)]
    for problem in found:
        print(problem)
    print(f"{len(extract())} sentences in {', '.join(LANGUAGES)}: {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())

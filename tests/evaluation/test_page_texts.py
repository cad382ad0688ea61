"""Texts that people read are changed in a page, and its markup is not."""

import pytest

from evaluation.page_texts import change_texts, texts_of
from evaluation.private_words import PrivateWords, possible_ids

ID = "5f8d0d55b54764421b7156d9"
BLACK = "x" * len(ID)
# A participant may have any of these as their id.
WORDS = PrivateWords(
    [ID, "stylesheet", "csrfmiddlewaretoken", "plain-comparison", "reserved", "O'Brien & Ada"]
)


@pytest.mark.parametrize(
    "page",
    [
        '<!DOCTYPE html>\n<link rel="stylesheet" href="/static/plain-comparison.css">',
        '<input type="hidden" name="csrfmiddlewaretoken" value="plain-comparison">',
        "<form action='/studies/plain-comparison/'><button name=reserved value=reserved></button></form>",
        '<a class="reserved" href="/studies/plain-comparison/slots/?state__exact=reserved&amp;q=some#reserved"></a>',
        '<option value="reserved" selected></option>',
        "<script>let reserved = '<b>stylesheet</b>';</script><style>.reserved { color: red }</style>",
        "<!-- reserved > stylesheet --><br/>&amp;&nbsp;&copy; 1 &lt; 2 &#x27;as it is'",
        '<p hx-get="/studies/plain-comparison/" data-slug=plain-comparison id=reserved title="1 > 0">é</p>',
    ],
)
def test_markup_stays_byte_for_byte(page: str) -> None:
    assert change_texts(page, WORDS.blacked_out) == page


@pytest.mark.parametrize(
    "page",
    [
        "{id}",
        "<p>By {id}.</p>",
        "<title>By {id}</title><textarea name=stylesheet>({id})</textarea>",
        '<b title="By {id}" aria-label="{id}"></b><img alt="{id}" src="/a.png"><td data-label="{id}"></td>',
        '<input name="who" value="{id}"><input type="search" placeholder="{id}" value="{id}">',
        '<input type="hidden" name="q" value="{id}"><a href="?sort=newest&amp;q={id}+said&amp;p=2"></a>',
        '<a href="https://app.example.org/submissions/{id}?of={id}"></a>',
        "<script>1</script>{id}<style></style>{id}<!-- 1 -->{id}",
        "1 &lt; 2, {id} &amp; others",
    ],
)
def test_what_people_read_is_changed(page: str) -> None:
    assert change_texts(page.format(id=ID), WORDS.blacked_out) == page.format(id=BLACK)


def test_text_is_read_as_a_browser_shows_it() -> None:
    page = "<p>O&#x27;Brien &amp; Ada &lt;b&gt;</p><a href='mailto:O%27Brien%20%26%20Ada'></a>"
    black = "x" * len("O'Brien & Ada")
    changed = f'<p>{black} &lt;b&gt;</p><a href="mailto:{black}"></a>'
    assert change_texts(page, WORDS.blacked_out) == changed


def test_ids_of_a_text_are_found_as_they_would_be_blacked_out() -> None:
    page = f'<p class="notatext">By {ID}. or (ada@example.org) in 12345</p>'
    assert possible_ids(texts_of(page)) == {ID, f"{ID}.", "ada@example.org"}

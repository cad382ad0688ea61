"""`{% judged %}`: the attributes of a text that is judged and of none that says what to do.

It has a direction of its own and the language that the study names, and browsers leave it untranslated.
"""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from evaluation.forms.language import texts_language

register = template.Library()
ANY = SafeString('dir="auto" translate="no"')


@register.simple_tag
def judged() -> SafeString:
    code = texts_language()
    return format_html('{} lang="{}"', ANY, code) if code else ANY

"""The template tag for the translated texts of scripts."""

from django import template
from django.conf import settings
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from apps.chat.pages.script_texts import version_of_texts

register = template.Library()


@register.simple_tag
def texts_of_scripts() -> SafeString:
    """Return the script tag for the scripts' translated texts, or "" in English. The tag must
    precede all other scripts.
    """
    language = get_language() or settings.LANGUAGE_CODE
    if language == settings.LANGUAGE_CODE:
        return SafeString("")
    address = reverse("texts", args=(language, version_of_texts(language)))
    return format_html('<script src="{}" defer></script>', address)

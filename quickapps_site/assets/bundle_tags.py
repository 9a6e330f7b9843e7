"""Defines the template tags for bundles of scripts: `{% load bundles %}`."""

import functools

from django import template
from django.templatetags.static import static
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from quickapps_site.assets import bundles

register = template.Library()


@register.simple_tag
def preload_imports(script: str) -> SafeString:
    """Return HTML tags that make the browser load a script's imports before it has parsed the
    script. Return "" if pages do not use bundles.
    """
    if f"/{bundles.FOLDER}" not in static(script):
        return SafeString("")
    names = imports_of(script)
    return format_html_join(
        "\n  ", '<link rel="modulepreload" href="{}">', ((static(name),) for name in names)
    )


@functools.lru_cache(maxsize=100)
def imports_of(script: str) -> list[str]:
    made = bundles.read(bundles.root_of_sources())
    return made.imports[made.entries[script]]

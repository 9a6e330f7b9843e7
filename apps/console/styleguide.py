"""Serves the style guide: a page with every element of the user interface in every state."""

import re
from pathlib import Path

from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

TOKENS = "chat/styles/tokens.css"
COLOR = re.compile(r"^  --([\w-]+): light-dark\(", re.MULTILINE)
SPRITE = "chat/vendor/icons.svg"
SYMBOL = re.compile(r'<symbol[^>]* id="([\w-]+)"')


@require_safe
def styleguide(request: HttpRequest) -> HttpResponse:
    context = {
        "title": "Style guide",
        "colors": list(dict.fromkeys(COLOR.findall(source(TOKENS)))),
        "icons": SYMBOL.findall(source(SPRITE)),
    }
    return render(request, "styleguide/page.html", context)


def source(name: str) -> str:
    return Path(str(finders.find(name))).read_text("utf-8")

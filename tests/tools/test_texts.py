"""Every visible text is translated into every language."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import allauth
import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po
from django.conf import settings

from tools.texts.catalogues import (
    DOMAINS,
    KEYWORDS,
    PYTHON,
    ROOT,
    SCRIPTS,
    compiled,
    files_below,
    forms,
    merged,
    po_file,
    read,
    untranslated,
    written,
)
from tools.texts.unmarked import of_script, of_template

LANGUAGES = [language for language, _ in settings.LANGUAGES if language != "en"]
FOR_PEOPLE = (
    "base.html", "error.html", "account", "allauth", "chat", "mfa", "registration", "requests",
    "schedules", "socialaccount",
)  # fmt: skip
"""Templates without translations, because operators read English."""
WITHOUT_TEXTS = {
    "chart-worker.js", "diagram-frame.js", "first-socket.js", "service-worker.js", "theme.js",
}  # fmt: skip
"""Scripts that run without a page, or before it. Only the calling script reads their messages."""
FOR_OPERATORS = {"styleguide.js"}
"""Scripts of pages for operators, who read English."""
TELLING = {
    "apps/runs/explanations.py",
    "apps/outages.py",
    "apps/runs/failures.py",
    "apps/chat/account/consents.py",
    "apps/chat/scheduled/pages.py",
}
"""Modules that report texts which were marked where they were raised or stored."""
FILLED_IN = re.compile(r"\{\w+\}|%\(\w+\)s|</?[a-z]+[^>]*>")
"""Values, and tags with their attributes."""
TITLE_CASE = re.compile(r"[A-Z][\w'-]*(?: [A-Z][\w'-]*)+\??")
"""Several words that all begin with a capital letter."""

in_each_language = pytest.mark.parametrize("language", LANGUAGES)
in_each_domain = pytest.mark.parametrize("domain", DOMAINS)


@pytest.mark.slow("reads all sources for texts")
@in_each_language
@in_each_domain
def test_the_catalogue_has_the_texts_of_the_sources(language, domain):
    kept = po_file(language, domain).read_bytes()

    assert kept == written(merged(language, domain)), "Run `make texts` and translate what is new."


@in_each_language
@in_each_domain
def test_every_text_is_translated(language, domain):
    assert [one.id for one in untranslated(read(language, domain))] == []


@in_each_language
@in_each_domain
def test_the_compiled_catalogue_is_that_of_the_source(language, domain):
    path = po_file(language, domain)

    assert path.with_suffix(".mo").read_bytes() == compiled(read(language, domain))


def test_the_english_catalogue_is_compiled():
    path = po_file("en", "django")

    assert path.with_suffix(".mo").read_bytes() == compiled(read("en", "django"))


def test_titles_of_the_account_pages_are_in_sentence_case():
    """The English catalog rewords each title of allauth, and nothing that allauth lacks."""
    library = Path(allauth.__file__).parent / "locale/de/LC_MESSAGES/django.po"
    with library.open("rb") as file:
        texts = {one.id for one in read_po(file) if isinstance(one.id, str) and not one.context}
    own = {one.id: str(one.string) for one in read("en", "django") if one.id}
    titles = {one for one in texts if TITLE_CASE.fullmatch(one)}

    assert titles - own.keys() == set()
    assert own.keys() - texts == set()
    assert [one for one in own.values() if TITLE_CASE.fullmatch(one)] == []


@in_each_language
@in_each_domain
def test_a_translation_has_the_values_and_the_tags_of_its_text(language, domain):
    wrong = [one.id for one in read(language, domain) if one.id and not has_same_gaps(one)]

    assert wrong == []


def has_same_gaps(message: Message) -> bool:
    texts = forms(message.id)
    wanted = Counter(FILLED_IN.findall(texts[-1]))
    *special, usual = [Counter(FILLED_IN.findall(one)) for one in forms(message.string)]
    # The singular form may omit the number, as in "a step".
    wanted.pop("{ending}", None)  # of English ordinals
    return usual == wanted and all(one <= wanted for one in special)


def test_all_that_is_read_of_a_template_can_be_translated():
    found = {
        str(path.relative_to(ROOT)): unmarked
        for path in files_below(tuple(f"templates/{one}" for one in FOR_PEOPLE), ".html", ".txt")
        if (unmarked := of_template(path.read_text("utf-8")))
    }

    assert found == {}


def test_all_that_a_script_says_can_be_translated():
    found = {
        str(path.relative_to(ROOT)): unmarked
        for path in files_below(SCRIPTS, ".js")
        if path.name not in WITHOUT_TEXTS | FOR_OPERATORS
        and (unmarked := of_script(path.read_text("utf-8")))
    }

    assert found == {}


def test_texts_of_python_are_marked_as_literals():
    """The extraction finds only literals, not concatenated texts."""
    odd = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in files_below(PYTHON, ".py")
        if str(path.relative_to(ROOT)) not in TELLING
        for call in calls_of_gettext(path.read_text("utf-8"))
        if not is_literal(call.args[0])
    ]

    assert odd == []


@pytest.mark.slow("reads all modules")
def test_no_text_of_python_is_marked_inside_an_f_string():
    """The extraction reads an f-string as one token, so a text in it is not translated."""
    hidden = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in files_below(PYTHON, ".py")
        if "gettext" in (source := path.read_text("utf-8"))
        for string in ast.walk(ast.parse(source))
        if isinstance(string, ast.JoinedStr)
        for call in ast.walk(string)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        if call.func.id in KEYWORDS and not isinstance(call.args[0], ast.Name)
    ]

    assert hidden == []


def calls_of_gettext(source: str) -> list[ast.Call]:
    if "gettext" not in source:
        return []
    calls = [one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.Call)]
    return [one for one in calls if isinstance(one.func, ast.Name) and one.func.id in KEYWORDS]


def is_literal(text: ast.expr) -> bool:
    """Return True for a literal, or for the name of one that is marked at its definition."""
    return isinstance(text, ast.Constant) or (isinstance(text, ast.Name) and text.id.isupper())

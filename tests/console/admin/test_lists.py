"""All lists of the admin have the same search, filters and texts."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.contrib import admin
from django.http import QueryDict
from django.urls import reverse

from apps.cases.models import Case, CaseRun
from apps.console.link_choices import link_choices
from apps.console.menu import row_name
from apps.console.templatetags.console_lists import kept_parameters
from apps.workspace.local.models import Secret
from tests.catalog.rows import make_application, make_deployment

pytestmark = pytest.mark.django_db

DEPLOYMENTS = "admin:workspace_deployment_changelist"


def test_every_search_says_in_a_few_words_what_it_searches():
    longest = 45  # More does not fit into the box.

    unclear = {
        model.__name__: page.search_help_text
        for model, page in admin.site._registry.items()
        if page.search_fields
        and not re.fullmatch(rf"[A-Z].{{,{longest - 2}}}[^.]", str(page.search_help_text or ""))
        and model._meta.label_lower != "catalog.contentitem"  # It has a page of its own.
    }

    assert unclear == {}


def test_a_filter_is_a_list_of_links_with_the_chosen_value(admin_client):
    make_deployment("chatty")
    make_deployment("vectors", kind="embedding")

    html = admin_client.get(reverse(DEPLOYMENTS), {"kind__exact": "embedding"}).text

    filters = re.findall(r'choice-label">(.*?)</span>\s*<span class="choice-value">(.*?)<', html)
    assert ("Kind", "Embedding: creates vectors from texts") in filters
    assert html.count("data-narrowed") == 1
    assert re.search(r'list-found"><span role="status">1 result</span>', html)
    assert "changelist-filter" not in html


def test_a_list_that_matches_nothing_offers_to_clear_what_narrows_it(admin_client):
    make_deployment("chatty")
    queries = {"q": "<b>"}, {"kind__exact": "image"}, {"q": "x", "kind__exact": "image"}

    pages = [admin_client.get(reverse(DEPLOYMENTS), query).text for query in queries]

    shown = [
        re.findall(r"<h2>(Nothing.*?)</h2>|button\">(Clear.*?)</a>", page, re.DOTALL)
        for page in pages
    ]
    texts = [
        [unescape(re.sub(r"</?span[^>]*>", "", "".join(one))) for one in found] for found in shown
    ]
    assert texts == [
        ["Nothing found for “<b>”", "Clear search"],
        ["Nothing matches the filters", "Clear filters"],
        ["Nothing found for “x”", "Clear search and filters"],
    ]


def test_a_new_search_preserves_the_filters_and_the_order_but_not_the_page():
    query = QueryDict("q=tea&p=3&page=2&e=1&o=-1&kind=a&kind=b")

    assert kept_parameters(query) == {"o": ["-1"], "kind": ["a", "b"]}


def test_a_choice_starts_at_the_first_page(rf):
    titles = {"": "All", "a": "A"}

    choices = link_choices(rf.get("/?kind=a&q=x&p=3&page=2"), "kind", titles)

    assert [one.url for one in choices.options] == ["?q=x", "?kind=a&q=x"]
    assert (choices.chosen, choices.is_narrowed) == ("A", True)


def test_rows_have_the_names_of_the_menu():
    names = [(row_name(model._meta), row_name(model._meta, 2)) for model in (Case, CaseRun, Secret)]

    assert names == [
        ("test case", "test cases"),
        ("test run", "test runs"),
        ("secret", "secrets"),
    ]


def test_a_list_counts_its_rows_by_their_names(admin_client):
    CaseRun.objects.create(application=make_application(), target="live")

    html = admin_client.get(reverse("admin:cases_caserun_changelist")).text

    assert re.search(r"py-4\">1 test run<", html)
    assert re.search(r"field-version[^>]*>\s*Live\s*<", html)

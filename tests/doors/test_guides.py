"""The docs and the studio show the guides, so each text must be correct for any application."""

from __future__ import annotations

import json

from django.conf import settings

from apps.console.management.commands.connect_reference import render_guides
from apps.doors.guides import load_guides

HOST = "https://apps.example.com"


def test_the_docs_show_the_guides_of_all_doors():
    written = (settings.BASE_DIR / "docs" / "connect.md").read_text()
    assert written.endswith(render_guides(load_guides())), "run `manage.py connect_reference`"


def test_each_guide_names_the_application_at_its_address():
    filled = [guide.fill(HOST, "desk", "Desk") for guide in load_guides()]
    texts = [
        text for guide in filled for text in (guide.address, *(s.text for s in guide.snippets))
    ]
    assert [text for text in texts if "{slug}" in text or "{origin}" in text] == []
    assert [guide.id for guide in filled if not guide.address.startswith(HOST)] == []
    assert [
        guide.id for guide in filled if not (settings.BASE_DIR / "docs" / guide.docs).exists()
    ] == []


def test_a_title_with_quotes_leaves_json_valid():
    title = 'The "Desk" \\ ü'
    [shown] = [
        json.loads(snippet.text)["applications"]["desk"]["displayName"]
        for guide in load_guides()
        for snippet in guide.fill(HOST, "desk", title).snippets
        if guide.id == "core"
    ]
    assert shown == title

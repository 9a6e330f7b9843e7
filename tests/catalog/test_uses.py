"""The users of predefined items and deployments, whichever way they are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from apps.catalog.content.items import item_of
from apps.catalog.content.layers import Content, ContentRows, read_layers
from apps.catalog.uses import ItemReference, ReferringApplication, deployment_uses, uses_of
from apps.catalog.versions.content_changes import content_changes, used_items
from tests.catalog.content.files import write
from tests.tables import each_row

SCOUT = "---\ntitle: Scout\ndescription: Finds.\nmodel: small\nbrings: [harbour]\n---\nFind it.\n"
PLAIN = "---\ntitle: Plain\ndescription: Helps.\n---\nHelp.\n"
RULES = ItemReference("prompt", "memory_rules")
AGENTS = {ItemReference("agent", "scout"), ItemReference("agent", "plain")}


@pytest.fixture
def content(tmp_path: Path) -> Content:
    agents = (("scout", SCOUT), ("plain", PLAIN))
    items = [item_of("agent", name, "database", f"row {name}", text) for name, text in agents]
    directory = write(tmp_path, prompt__memory_rules="Remember.")
    return read_layers(
        [directory], ContentRows({place: (1, one) for place, one in enumerate(items)})
    )


def with_features(**features: Any) -> dict[str, Any]:
    return {"features": features}


@each_row(
    ("document", "expected"),
    [
        (with_features(memory={"enabled": True}), {RULES}),
        (with_features(memory={"enabled": False}), set()),
        (with_features(memory={}), set()),
        (with_features(spawn_agent={"enabled": True}), AGENTS),
        (with_features(spawn_agent={"enabled": True, "agents": None}), AGENTS),
        (with_features(spawn_agent={"enabled": True, "agents": ["scout"]}), {("agent", "scout")}),
        (with_features(spawn_agent={"enabled": True, "agents": []}), set()),
        (with_features(spawn_agent={"agents": ["scout"]}), set()),
        (with_features(memory=True, spawn_agent={"enabled": True, "agents": 3}), set()),
        ({"features": None}, set()),
        (None, set()),
    ],
)
def test_what_features_use_is_used_by_the_application(content, document, expected):
    application = ReferringApplication(1, "Travel", document)

    found = uses_of(content, [application])

    of_application = {key for key, uses in found.items() if application in uses.applications}
    assert of_application == expected


def test_a_change_of_what_a_feature_uses_is_told_with_what_it_leads_to(content, tmp_path):
    document = with_features(memory={"enabled": True}, spawn_agent={"enabled": True})
    rows = ContentRows(content.rows.by_id)
    after = read_layers([write(tmp_path, prompt__memory_rules="Remember it all.")], rows)

    changes = content_changes(document, content, after)

    assert [(one.kind, one.name, one.verb) for one in changes] == [
        ("prompt", "memory_rules", "changed")
    ]
    assert set(used_items(document, content)) == {RULES, *AGENTS}


@pytest.mark.django_db
def test_an_agent_uses_its_model(content):
    (user,) = deployment_uses(content)["small"]

    assert (user.kind, user.name, user.path) == ("agent", "scout", "model")

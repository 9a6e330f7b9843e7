"""An application that would call itself cannot be saved."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from apps.catalog.actions.save_rules import check_row
from apps.catalog.history.actors import Actor, acting
from apps.catalog.models import Application, Change, Grant, Role
from tests.catalog.content.files import write
from tests.catalog.rows import make_application, make_deployment, manifest_with

pytestmark = pytest.mark.django_db


def calling(*names: str, **fields: Any) -> dict[str, Any]:
    """Return a manifest with a tool for each name."""
    tools = [{"type": "dial-deployment-simple", "deployment_id": name, **fields} for name in names]
    return manifest_with(tool_sets=[{"type": "dial-deployment", "name": "team", "tools": tools}])


def refusal(application: Application) -> list[str]:
    try:
        check_row(application)
    except ValidationError as error:
        return error.message_dict["manifest"]
    return []


def test_an_application_cannot_be_its_own_tool():
    application = Application(slug="a", title="A", manifest=calling("helper", "a"))

    assert refusal(application) == [
        "tool_sets[0].tools[1].deployment_id: an application cannot call itself: a → a."
    ]


def test_a_way_back_over_other_applications_is_told_with_all_of_its_steps():
    make_application("b", manifest=calling("d", "c"))
    make_application("c", manifest=calling("a"), is_enabled=False)
    make_application("d", manifest=calling("b"))

    application = Application(slug="a", title="A", manifest=calling("c", "d"))

    assert sorted(refusal(application)) == [
        "tool_sets[0].tools[0].deployment_id: an application cannot call itself: a → c → a.",
        "tool_sets[0].tools[1].deployment_id: an application cannot call itself: a → d → b → c → a.",
    ]


@pytest.mark.postgres
def test_applications_that_the_user_cannot_see_are_not_named():
    anna, root = User.objects.create_user("anna"), User.objects.create_superuser("root")
    make_application("b", manifest=calling("c"), is_shared=False)
    make_application("c", manifest=calling("d"), is_shared=False)
    granted = make_application("d", manifest=calling("e"), is_shared=False)
    make_application("e", manifest=calling("a"), is_shared=True)
    Grant.objects.create(application=granted, user=anna, role=Role.USER)
    application = Application(slug="a", title="A", manifest=calling("b"))

    found = []
    for user in (anna, root, None):
        with acting(Actor(user, Change.Via.API)):
            found += refusal(application)

    place = "tool_sets[0].tools[0].deployment_id: an application cannot call itself"
    assert found == [
        f"{place}: a → … → d → e → a.",
        f"{place}: a → b → c → d → e → a.",
        f"{place}: a → … → e → a.",
    ]


def test_an_application_cannot_be_driven_by_itself():
    orchestrator = {"deployment": {"deployment_id": "a"}}
    application = Application(
        slug="a", title="A", manifest=manifest_with(orchestrator=orchestrator)
    )

    assert refusal(application) == [
        "orchestrator.deployment.deployment_id: an application cannot call itself: a → a."
    ]


def test_a_new_name_can_close_a_circle():
    application = make_application("old", manifest=calling("b"))
    make_application("b", manifest=calling("a"))

    application.slug = "a"

    assert refusal(application) == [
        "tool_sets[0].tools[0].deployment_id: an application cannot call itself: a → b → a."
    ]


def test_what_was_saved_before_is_not_what_is_checked():
    application = make_application("a", manifest=calling("b"))
    make_application("b", manifest=calling("a"))

    application.manifest = calling("c")

    assert refusal(application) == []


def test_a_tool_that_is_switched_off_closes_no_circle():
    make_application("b", manifest=calling("a"))

    application = Application(slug="a", title="A", manifest=calling("b", enabled=False))

    assert refusal(application) == []


def test_a_way_back_that_stands_in_predefined_content_is_found(tmp_path, settings):
    function = {
        "name": "ask",
        "description": "d",
        "parameters": {"type": "object", "properties": {}},
    }
    item = {
        "type": "deployment-tool",
        "deployment": {"deployment_id": "model"},
        "open_ai_tool": {"function": function},
    }
    settings.PREDEFINED_DIR = write(tmp_path, tool__ask=item)
    used = {"template_name": "ask", "override": {"deployment": {"deployment_id": "a"}}}
    tools = [{"type": "predefined-tool", **used}]
    sets = [{"type": "dial-deployment", "name": "team", "tools": tools}]

    application = Application(slug="a", title="A", manifest=manifest_with(tool_sets=sets))

    assert refusal(application) == [
        "tool_sets[0].tools[0].deployment.deployment_id: an application cannot call itself: a → a."
    ]


def test_a_model_is_meant_where_an_application_has_its_name():
    make_deployment("a")
    make_application("b", manifest=calling("a"))

    application = Application(slug="a", title="A", manifest=calling("b", "a"))

    assert refusal(application) == []


def test_a_circle_that_does_not_come_back_here_is_none_of_this_application():
    make_application("b", manifest=calling("c"))
    make_application("c", manifest=calling("b"))

    application = Application(slug="a", title="A", manifest=calling("b"))

    assert refusal(application) == []

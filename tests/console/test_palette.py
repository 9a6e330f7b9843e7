"""The results of the command palette in the admin, by user."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from apps.live.models import Run
from apps.live.run_summary import RunSummary
from apps.workspace.local.models import Secret
from tests.catalog.content.files import write
from tests.catalog.rows import make_application, make_deployment
from tests.console.pages import permit, staff_account

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def found(client: Client, words: str) -> dict[str, list[str]]:
    groups: list[dict[str, Any]] = client.get("/admin/find/", {"q": words}).json()["groups"]
    return {group["title"]: [one["title"] for one in group["found"]] for group in groups}


def test_everything_is_found_by_its_name(client, operator, settings, tmp_path):
    settings.PREDEFINED_DIR = write(tmp_path, prompt__travel_tone="Be kind.")
    make_application("travel")
    make_deployment("travel-model")
    User.objects.create_user("travelling-anna")
    Secret.objects.create(name="travel-key", value="x", servers=["a.example.com"])

    everything = found(client, "travel")

    assert everything == {
        "Applications": ["Travel"],
        "Deployments": ["travel-model"],
        "Predefined content": ["travel_tone"],
        "Users": ["travelling-anna"],
        "Secrets": ["travel-key"],
    }
    assert "Applications" in found(client, "appl")["Pages"]
    assert "Add deployment" in found(client, "add dep")["Pages"]
    assert found(client, "second factor") == {"Settings": ["Your password and second factor"]}


def test_a_run_is_found_by_the_reference_that_a_person_was_shown(client, operator):
    failed = RunSummary.objects.create(
        door="page", application="travel", bucket="user-1", status="failed", error_reference="1a2b"
    )
    ids = {"stream": uuid4(), "request": uuid4()}
    going = Run.objects.create(application="travel", bucket="user-1", **ids)

    assert found(client, "1A2B") == {"Runs": ["travel, failed"]}
    assert found(client, str(failed.pk)) == {"Runs": ["travel, failed"]}
    assert found(client, str(going.pk)) == {"Runs": ["travel, running"]}


def test_nobody_finds_what_they_may_not_see(client):
    make_application("travel")
    make_deployment("travel-model")
    RunSummary.objects.create(
        door="page", application="travel", bucket="user-1", error_reference="1a2b"
    )
    user = staff_account("reader")
    client.force_login(user)
    nothing = found(client, "travel")
    permit(user, "view_application", "view_runsummary", "view_run")

    assert (nothing, found(client, "travel"), found(client, "1a2b")) == ({}, {}, {})
    assert Client().get("/admin/find/").status_code == 302


def test_finding_takes_fifteen_queries_at_most(client, operator, django_assert_max_num_queries):
    client.get("/admin/find/?q=a")

    with django_assert_max_num_queries(15):
        client.get("/admin/find/?q=a")

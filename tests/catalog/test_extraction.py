"""Saving converts typed credentials to secrets, also in concurrent requests."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection

from apps.catalog.extraction import extract, forbidden_credentials
from apps.catalog.models import Application, ApplicationDraft
from apps.workspace.local.models import Secret
from tests.catalog.credentials.documents import MARK, OTHER, PATH, SERVERS, manifest, tracking
from tests.catalog.rows import make_deployment, make_operator, secrets, store_application
from tests.console.admin.rows.test_races import at_once
from tests.console.pages import browser_of
from tests.console.studio.asking import send


def named(*names: str) -> dict[str, Any]:
    return manifest(*(tracking({"$secret": name}) for name in names))


@pytest.mark.django_db
@pytest.mark.postgres
class TestExtract:
    def test_equal_credentials_for_the_same_servers_make_one_secret(self):
        found = extract(manifest(tracking(), tracking()))

        assert found.document == named("tracking-key", "tracking-key")
        assert secrets() == [("tracking-key", MARK, SERVERS)]

    def test_equal_credentials_for_different_servers_make_two(self):
        other = tracking(MARK, "https://b.example.org/")

        extract(manifest(tracking(), other))

        assert secrets() == [
            ("tracking-key", MARK, SERVERS),
            ("tracking-key-2", MARK, ["https://b.example.org"]),
        ]

    def test_a_secret_that_the_row_names_is_not_sent_to_more_servers(self):
        stored = extract(manifest(tracking())).document
        typed = manifest(tracking(MARK, "https://mine.example.net/"))

        extract(typed, [stored])

        assert secrets() == [
            ("tracking-key", MARK, SERVERS),
            ("tracking-key-2", MARK, ["https://mine.example.net"]),
        ]

    def test_a_secret_that_only_others_name_is_not_named(self):
        Secret.objects.create(name="theirs", value=MARK, servers=SERVERS)

        assert extract(manifest(tracking())).document == named("tracking-key")

    @pytest.mark.parametrize(
        "toolset",
        [
            {**tracking(), "tools": []},
            tracking(5),
            tracking("two\nlines"),
            tracking(url="https://bücher.example/"),
            {**tracking(), "tools": [{"type": "predefined", "template_name": "x"}]},
            {"type": "predefined", "template_name": "x", "override": tracking()["authorization"]},
        ],
    )
    def test_what_cannot_be_a_secret_is_left_as_it_is(self, toolset):
        document = manifest(toolset)

        assert extract(document).document is document
        assert forbidden_credentials(document, AnonymousUser()) == []
        assert secrets() == []

    def test_the_credential_of_an_item_whose_address_is_overridden_stays(self):
        override = {"tools": tracking(url="https://mine.example.net/")["tools"]}
        use = {"type": "predefined", "template_name": "lent", "override": override}
        store_application(slug="turned", title="Turned", manifest=manifest(use))

        assert extract(tracking(), item="lent").document == tracking()
        assert secrets() == []

    def test_what_goes_to_a_deployment_as_it_is_written_is_no_credential_of_a_toolset(self):
        sent = {"type": "static_function", "static_function": {"name": "x", "token": MARK}}
        tool = {"deployment": {"deployment_id": "gpt", "parameters": {"tools": [sent]}}}
        toolset = {**tracking({"$secret": "x"}), "tools": [*tracking()["tools"], tool]}
        document = {**manifest(toolset), "contexts": [{"password": MARK}]}

        assert extract(document).document is document

    def test_who_may_not_add_secrets_is_refused_at_each_place(self):
        document = manifest(tracking(), tracking(OTHER))

        found = forbidden_credentials(document, AnonymousUser())

        assert [problem.path for problem in found] == [PATH, PATH.replace("[0]", "[1]")]


def typed(row: Application, document: dict[str, Any]) -> dict[str, Any]:
    """Return the studio's request for another manifest."""
    base = {"title": row.title, "description": "", "icon": "", "manifest": row.manifest}
    return {**base, "manifest": document, "version": 0, "base": base}


@pytest.mark.django_db(transaction=True)
@pytest.mark.postgres
@pytest.mark.skipif(
    "connection.vendor == 'sqlite'", reason="SQLite lets one write at a time; PostgreSQL tests."
)
def test_two_who_save_at_once_get_a_secret_each():
    make_deployment("demo-model")
    user = make_operator()
    clients = [browser_of(user), browser_of(user)]
    second = {**tracking("sk-b", "https://b.example.org/"), "name": "b"}
    rows = [store_application(slug=slug, title=slug) for slug in ("one", "two")]
    documents = [manifest(tracking(MARK), second), manifest(second, tracking(OTHER))]

    assert connection.vendor == "postgresql"
    answers = at_once(
        *(
            lambda client=client, row=row, document=document: send(
                client, row, "save", typed(row, document)
            )
            for client, row, document in zip(clients, rows, documents, strict=True)
        )
    )

    assert [answer.status_code for answer in answers] == [200, 200]
    names = Secret.objects.order_by("name").values_list("name", flat=True)
    assert list(names) == ["b-key", "b-key-2", "tracking-key", "tracking-key-2"]
    kept = {
        draft.application.slug: draft.manifest["tool_sets"]
        for draft in ApplicationDraft.objects.select_related("application")
    }
    values = dict(Secret.objects.values_list("name", "value"))
    keys = {
        slug: [values[toolset["authorization"]["key"]["$secret"]] for toolset in toolsets]
        for slug, toolsets in kept.items()
    }
    assert keys == {"one": [MARK, "sk-b"], "two": ["sk-b", OTHER]}

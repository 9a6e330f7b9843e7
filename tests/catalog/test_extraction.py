"""Secrets that are made of what is saved, also by two at once."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test import Client

from apps.catalog.extraction import extract, refusals
from apps.catalog.models import Application, empty_manifest
from apps.workspace.local.models import Secret
from tests.catalog.rows import make_deployment, make_operator, secrets
from tests.console.admin.test_document_form import LIST, MARK, OTHER, PATH, posted, tracking
from tests.console.admin.test_races import at_once

SERVERS = ["https://track.example.org"]


def manifest(*toolsets: Any) -> dict[str, Any]:
    return {**empty_manifest(), "tool_sets": list(toolsets)}


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
        assert refusals(document, AnonymousUser()) == []
        assert secrets() == []

    def test_the_credential_of_an_item_whose_address_is_overridden_stays(self):
        override = {"tools": tracking(url="https://mine.example.net/")["tools"]}
        use = {"type": "predefined", "template_name": "lent", "override": override}
        Application.objects.create(slug="turned", title="Turned", manifest=manifest(use))

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

        found = refusals(document, AnonymousUser())

        assert [problem.path for problem in found] == [PATH, PATH.replace("[0]", "[1]")]


@pytest.mark.django_db(transaction=True)
@pytest.mark.postgres
@pytest.mark.skipif(
    "connection.vendor == 'sqlite'", reason="SQLite lets one write at a time; PostgreSQL tests."
)
def test_two_who_save_at_once_get_a_secret_each():
    make_deployment("demo-model")
    user = make_operator()
    clients = []
    for _ in range(2):
        clients.append(Client())
        clients[-1].force_login(user)
    second = {**tracking("sk-b", "https://b.example.org/"), "name": "b"}
    documents = {
        "one": manifest(tracking(MARK), second),
        "two": manifest(second, tracking(OTHER)),
    }

    assert connection.vendor == "postgresql"
    answers = at_once(
        *(
            lambda client=client, slug=slug: client.post(
                f"{LIST}add/", posted(documents[slug], slug=slug)
            )
            for client, slug in zip(clients, documents, strict=True)
        )
    )

    assert [answer.status_code for answer in answers] == [302, 302]
    rows = Secret.objects.order_by("name").values_list("name", flat=True)
    assert list(rows) == ["b-key", "b-key-2", "tracking-key", "tracking-key-2"]
    kept = {row.slug: row.manifest["tool_sets"] for row in Application.objects.all()}
    values = dict(Secret.objects.values_list("name", "value"))
    keys = {
        slug: [values[toolset["authorization"]["key"]["$secret"]] for toolset in toolsets]
        for slug, toolsets in kept.items()
    }
    assert keys == {"one": [MARK, "sk-b"], "two": ["sk-b", OTHER]}

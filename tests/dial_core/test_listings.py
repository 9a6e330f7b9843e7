"""The listings, and the deployments that each caller sees in them."""

from __future__ import annotations

import httpx

from tests.dial_core import Core


def ids(response: httpx.Response) -> list[str]:
    found = response.json()
    return [one["id"] for one in (found["data"] if isinstance(found, dict) else found)]


def test_attachments_are_unlimited_only_where_types_are_named(core: Core, client: httpx.Client):
    core.add_model("none")
    core.add_model("any", inputAttachmentTypes=["image/*"])

    none, any_ = (client.get(f"/openai/models/{id}").json() for id in ("none", "any"))

    assert none["max_input_attachments"] == 0
    assert (any_["input_attachment_types"], "max_input_attachments" in any_) == (["image/*"], False)


def test_applications_of_users_are_listed_where_the_installation_says_so(
    core: Core, client: httpx.Client
):
    core.add_application("applications/public/helper", "http://127.0.0.1:9/")

    before = ids(client.get("/openai/applications"))
    core.settings.shows_custom_applications = True

    assert before == []
    assert ids(client.get("/openai/applications")) == ["applications/public/helper"]
    assert client.get("/openai/applications/applications/public/helper").status_code == 200


def test_types_of_applications_are_told(core: Core, client: httpx.Client):
    core.add_schema("https://x/t", "http://127.0.0.1:9/", {"a": 1})

    assert client.get("/v1/application_type_schemas/schemas").json() == [
        {"$id": "https://x/t", "dial:applicationTypeDisplayName": "t"}
    ]
    found = client.get("/v1/application_type_schemas/schema", params={"id": "https://x/t"})
    assert found.json() == core.configuration.schemas["https://x/t"]
    assert client.get("/v1/application_type_schemas/schema?id=no").status_code == 404
    assert client.get("/v1/application_type_schemas/meta_schema").json()["type"] == "object"

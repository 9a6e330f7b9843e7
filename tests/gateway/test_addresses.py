"""The existing addresses, and the error format for all others at each door."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import AsyncClient

from quickapps_site.asgi import application
from tests.gateway.scripts import Answer, Client, add_application, get, router
from tests.tables import each_row

pytestmark = pytest.mark.django_db


@pytest.fixture(params=[False, True], ids=["production", "debug"])
def debug(request: Any, settings: Any) -> None:
    settings.DEBUG = request.param


async def ask_site(method: str, path: str, **headers: str) -> Answer:
    """Send a request through the whole site, including Django."""
    client = Client(application, path, method=method, headers=headers)
    await client.send()
    return await client.read()


# --- Aliases -------------------------------------------------------------------------------------


async def test_models_are_listed_where_openai_s_clients_look_for_them():
    entry = await add_application(title="Weather")

    for path in ("/v1/models", "/v1/models/"):
        assert (await get(path)).json() == (await get("/openai/v1/models")).json()
    assert (await get(f"/v1/models/{entry.slug}")).json()["id"] == entry.slug
    assert (await get("/v1/models/nothing", client=("10.0.0.1", 1))).status == 401


@pytest.mark.parametrize("body", [{}, {"model": ""}, {"model": None}])
@pytest.mark.parametrize("address", ["chat/completions", "embeddings"])
async def test_a_body_without_a_model_is_refused_where_the_address_names_none(address, body):
    asked = {"messages": [{"role": "user", "content": "Hi"}], "input": "Hi"}

    client = Client(router(), f"/v1/{address}", method="POST")
    await client.send(json.dumps({**asked, **body}).encode())
    found = await client.read()

    place = "Your request contained invalid structure on path model. "
    assert (found.status, found.json()["error"]["message"][: len(place)]) == (400, place)


async def test_completions_are_answered_where_openai_s_clients_ask():
    wanted = await ask_site("POST", "/openai/v1/chat/completions")

    found = await ask_site("POST", "/v1/chat/completions")

    assert (found.status, found.json()) == (wanted.status, wanted.json())
    assert found.status == 400
    assert found.json()["error"]["message"].startswith("The request body isn't valid JSON")


@each_row("path", ["/v1/models", "/openai/models", "/openai/v1/models/{}"])
async def test_head_has_the_headers_of_get(path: str):
    path = path.format((await add_application()).slug)

    full, head = await get(path), await get(path, method="HEAD")

    assert (head.status, head.headers, head.body) == (200, full.headers, b"")
    assert int(head.headers["content-length"]) == len(full.body)


# --- Ids with slashes ----------------------------------------------------------------------------


@each_row("method", ["GET", "POST"])
@each_row("rest", ["/chat/completions", "/configuration", "", "/rate"])
async def test_an_id_with_slashes_that_names_nothing_is_refused_in_json(method: str, rest: str):
    path = f"/openai/deployments/applications/public/helper__1{rest}"

    answer = await ask_site(method, path)

    assert answer.status in (400, 401, 404, 405)
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["error"]["type"] == "invalid_request_error"


# --- Nothing is there ----------------------------------------------------------------------------


@pytest.mark.usefixtures("debug")
@each_row("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
@each_row(
    "path",
    [
        "/v1",
        "/v1/",
        "/v1/nothing",
        "/v1/nothing/",
        "/v1/completions",
        "/v1/files",
        "/v1/configuration-support",
        "/openai",
        "/openai/nothing",
        "/openai/deployments/echo/completions",
        "/openai/v1/images/generations",
        "/v1/no\nthing",
    ],
)
async def test_unknown_addresses_of_the_gateway_are_told_in_its_shape(method: str, path: str):
    answer = await ask_site(method, path)

    text = f"Unknown path: {path!a}. Chat completions are at /v1/chat/completions, and the list of applications is at /v1/models."
    error = {
        "message": text,
        "type": "invalid_request_error",
        "code": "unknown_url",
        "display_message": text,
    }
    assert answer.status == 404
    assert answer.headers["content-type"] == "application/json"
    if method != "HEAD":
        assert answer.json() == {"error": error}


@pytest.mark.usefixtures("debug")
@pytest.mark.parametrize("path", ["/chat/completions", "/chat/completions/"])
async def test_a_client_whose_base_url_has_no_path_is_told_which_to_use(path: str):
    answer = await ask_site("POST", path)

    assert (answer.status, answer.json()["error"]["message"]) == (
        404,
        f"Unknown path: '{path}'. The client's base_url has to end in /v1: "
        "completions are at /v1/chat/completions.",
    )


async def test_an_application_may_be_called_completions():
    await add_application(slug="completions")

    page = await AsyncClient().get("/chat/completions/")
    way = await AsyncClient().get("/chat/completions")

    assert (page.status_code, way.status_code, way["Location"]) == (
        200,
        301,
        "/chat/completions/",
    )


@pytest.mark.usefixtures("debug")
@each_row("method", ["GET", "POST", "PUT", "DELETE"])
@each_row(
    "path",
    ["/api", "/api/", "/api/nothing", "/api/nothing/", "/v1/configuration-support/nothing"],
)
async def test_unknown_addresses_of_scripts_and_editors_are_told_in_theirs(method: str, path: str):
    answer = await ask_site(method, path)

    assert (answer.status, answer.json()) == (404, {"detail": "Not found."})


@pytest.mark.usefixtures("debug")
async def test_a_missing_slash_is_mended_for_readers_and_told_to_writers():
    read = await ask_site("GET", "/api/applications")
    written = await ask_site("POST", "/api/applications")

    assert (read.status, read.headers["Location"]) == (301, "/api/applications/")
    assert (written.status, written.json()) == (
        404,
        {"detail": "Not found. Use the URL /api/applications/"},
    )


@pytest.mark.usefixtures("debug")
@each_row(
    ("method", "path", "allowed"),
    [
        ("POST", "/v1/configuration-support/application-schema", "GET, HEAD"),
        ("GET", "/v1/configuration-support/validate", "POST"),
        ("DELETE", "/v1/configuration-support/skills/validate", "POST"),
        ("POST", "/api/docs/", "GET, HEAD"),
    ],
)
async def test_wrong_methods_of_scripts_and_editors_are_told_in_json(
    method: str, path: str, allowed: str
):
    answer = await ask_site(method, path)

    told = {"detail": f'Method "{method}" not allowed.'}
    assert (answer.status, answer.headers["Allow"], answer.json()) == (405, allowed, told)


@each_row("path", ["/openai/v1/chat/completions", "/v1/chat/completions"])
async def test_wrong_methods_of_the_gateway_are_told_in_json(path: str):
    answer = await ask_site("GET", path)

    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert json.loads(answer.body)["error"]["code"] == "method_not_allowed"

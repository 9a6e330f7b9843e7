"""The other endpoints of an application, and its own routes."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from starlette.responses import JSONResponse, Response

from tests.dial_core import Core
from tests.dial_core.callers import Call, serve_application

TYPE = "https://x/t"
TYPED = {
    "configuration": "dial:applicationTypeConfigurationEndpoint",
    "tokenize": "dial:applicationTypeTokenizeEndpoint",
    "rate": "dial:applicationTypeRateEndpoint",
}


async def told_back(call: Call) -> Response:
    kept = ("x-dial-application-id", "x-dial-application-properties", "x-job")
    headers = {name: call.request.headers[name] for name in kept if name in call.request.headers}
    alive = await call.core.get("/v1/user/info")
    found = {"path": call.request.url.path, "body": call.body, **headers, "key": alive.status_code}
    return JSONResponse(found, 201, {"X-Reply": "1"})


def test_features_of_a_plain_application_are_asked_with_a_key(core: Core, client: httpx.Client):
    with serve_application(core.url, told_back) as url:
        endpoints = {"configurationEndpoint": f"{url}/c", "tokenizeEndpoint": f"{url}/t"}
        core.add_application("app", None, features=endpoints)
        configuration = client.get("/v1/deployments/app/configuration", headers={"X-Job": "j"})
        tokenized = client.post("/v1/deployments/app/tokenize", json={"inputs": []})

    assert (configuration.status_code, configuration.headers["x-reply"]) == (201, "1")
    assert configuration.json() == {"path": "/c", "body": None, "x-job": "j", "key": 200}
    assert tokenized.json() == {"path": "/t", "body": {"inputs": []}, "key": 200}
    assert core.keys.wait_until_none_lives(10)


def test_what_is_missing_is_empty_or_forbidden(core: Core, client: httpx.Client):
    core.add_application("app", None)

    def ask(method: str, path: str) -> tuple[int, str]:
        reply = client.request(method, path, json=None if method == "GET" else {})
        return reply.status_code, reply.text

    assert ask("GET", "/v1/deployments/app/configuration") == (200, "")
    assert ask("POST", "/v1/app/rate") == (200, "")
    assert ask("POST", "/v1/deployments/app/tokenize")[0] == 403
    assert ask("POST", "/v1/deployments/app/truncate_prompt")[0] == 403
    assert ask("GET", "/v1/deployments/nobody/configuration")[0] == 404


def test_a_feature_that_is_not_reachable_is_a_bad_gateway(core: Core, client: httpx.Client):
    core.add_application("app", None, features={"configurationEndpoint": "http://127.0.0.1:9/"})

    assert client.get("/v1/deployments/app/configuration").status_code == 502


def test_one_revision_looks_endpoints_up_under_misspelt_keys(core: Core, client: httpx.Client):
    """§8.15."""
    with serve_application(core.url, told_back) as url:
        endpoints = {key: f"{url}/{name}" for name, key in TYPED.items()}
        core.add_schema(TYPE, url, {"a": 1}, **endpoints)
        core.add_application("app", None, {"a": 1}, schema_id=TYPE)
        right = client.post("/v1/app/rate", json={})
        core.settings.reads_misspelt_endpoints = True
        rate = client.post("/v1/app/rate", json={})
        tokenize = client.post("/v1/deployments/app/tokenize", json={})
        configuration = client.get("/v1/deployments/app/configuration")

    assert right.json()["x-dial-application-id"] == "app"
    assert (rate.status_code, rate.text) == (200, "")
    assert (tokenize.status_code, configuration.status_code) == (403, 201)


def routed(url: str, **rest: Any) -> dict[str, Any]:
    return {
        "read": {
            "dial:paths": ["/v1/support(/[^/]+)*$"],
            "dial:methods": ["GET"],
            "dial:rewritePath": True,
            "dial:permissions": ["WRITE"],
            "dial:upstreams": [{"dial:endpoint": url}],
            **rest,
        },
        "check": {
            "dial:paths": ["/v1/check$"],
            "dial:methods": ["POST"],
            "dial:attachmentPaths": {"dial:requestBody": ["@.url"]},
            "dial:upstreams": [{"dial:endpoint": f"{url}/fixed", "dial:key": "static"}],
        },
        "canned": {
            "dial:paths": ["/canned"],
            "dial:methods": ["GET"],
            "dial:response": {"dial:status": 418, "dial:body": "teapot"},
        },
    }


def test_a_route_leads_to_the_applications_own_paths(core: Core, client: httpx.Client):
    with serve_application(core.url, told_back) as url:
        core.add_schema(TYPE, url, {"a": 1}, **{"dial:applicationTypeRoutes": routed(url)})
        core.add_application("app", None, {"a": 1}, schema_id=TYPE)
        route = "/v1/deployments/app/route"
        forged = {"X-DIAL-APPLICATION-PROPERTIES": "{}", "X-DIAL-APPLICATION-ID": "other"}
        read = client.get(f"{route}/v1/support/skills", headers=forged)
        check = client.post(f"{route}/v1/check", json={"url": "skills/public/tone"})
        foreign = client.post(f"{route}/v1/check", json={"url": "skills/stranger/tone"})

    assert read.json() == {
        "path": "/v1/support/skills",
        "body": None,
        "x-dial-application-id": "app",
        "x-dial-application-properties": "{}",
        "key": 200,
    }, "on a route the client's own properties go through"
    assert (check.json()["path"], check.json()["key"]) == ("/fixed", 401)
    assert core.sent[-1].headers["api-key"] == "static"
    assert foreign.status_code == 403
    canned = client.get(f"{route}/canned")
    assert (canned.status_code, canned.text) == (418, "teapot")
    lost = client.post(f"{route}/v1/support/skills")
    assert (lost.status_code, lost.text) == (404, "Route is not found")


@pytest.mark.parametrize(("bucket", "status"), [("own", 201), ("public", 403)])
def test_a_route_asks_for_permissions_on_the_application(
    core: Core, client: httpx.Client, bucket: str, status: int
):
    place = client.get("/v1/bucket").json()["bucket"] if bucket == "own" else bucket
    with serve_application(core.url, told_back) as url:
        core.add_schema(TYPE, url, {"a": 1}, **{"dial:applicationTypeRoutes": routed(url)})
        core.add_application(f"applications/{place}/my%20app", None, {"a": 1}, schema_id=TYPE)
        path = f"/v1/deployments/applications/{place}/my%20app/route/v1/support"
        reply = client.get(path)

    assert reply.status_code == status
    if status == 201:
        assert reply.json()["x-dial-application-id"] == f"applications/{place}/my app"


def test_a_route_may_be_for_some_roles_alone(core: Core, client: httpx.Client):
    routes = routed("http://127.0.0.1:9", **{"dial:userRoles": ["admin"]})
    core.add_schema(TYPE, None, {"a": 1}, **{"dial:applicationTypeRoutes": routes})
    core.add_application("app", None, {"a": 1}, schema_id=TYPE)

    refused = client.get("/v1/deployments/app/route/v1/support")

    assert (refused.status_code, refused.text) == (403, "Forbidden route")
    assert json.dumps([hop.path for hop in core.sent]) == "[]"

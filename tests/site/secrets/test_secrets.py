"""Marked credentials are planted in every possible location and searched for in every output."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.contract import proves
from tests.dial_core import serve_core
from tests.servers.http import serving
from tests.site.observability.test_tracing import ROUTE, TYPE, serve_collector
from tests.sites.serving import Site, serve
from tests.sites.websocket import PageSocket, visitor_cookie

PATIENCE = 60.0
MARK = "5k-Marked"


def mark(place: str) -> str:
    return f"{MARK}-{place}-0123456789abcdef"


BASIC = "bWU6NWstTWFya2VkL"
"""The base64 form of `me:` and the beginning of a mark."""

PLACES = ("plain", "secret", "saved")
"""A credential is in the row, in a secret that the manifest names, or was typed and saved over the
API."""


# --- What the site talks to -------------------------------------------------------------------


@contextmanager
def serve_services() -> Iterator[tuple[str, list[str]]]:
    """Serve a model, a service that always fails and a token service. Yields the headers of all
    requests."""
    told: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            told.append(f"{self.path} {self.headers.as_string()} {body.decode()}")
            status = 500 if self.path.startswith("/fail") else 200
            self.reply(status, "application/json", b'{"said": "fine"}')

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            told.append(f"{self.path} {self.headers.as_string()} {body.decode()}")
            if self.path.startswith("/token"):
                token = {"access_token": mark("token"), "expires_in": 3600}
                return self.reply(200, "application/json", json.dumps(token).encode())
            if self.path.startswith("/v1/chat"):
                return self.reply(200, "text/event-stream", answer(json.loads(body)))
            if self.path.startswith("/refusing"):
                return self.reply(401, "application/json", b'{"error": {"message": "Bad key."}}')
            return self.reply(500, "text/plain", b"no")

        def reply(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with serving(Handler) as address:
        yield address, told


def answer(question: dict[str, Any]) -> bytes:
    """Call every tool once. When all have answered, the model answers."""
    called = any(one.get("tool_call_id") == "call-0" for one in question["messages"])
    named = (tool["function"]["name"] for tool in question.get("tools", ()))
    names = [name for name in named if name.endswith("_ask")]
    delta: dict[str, Any] = {"content": "Done."}
    if names and not called:
        delta = {
            "tool_calls": [
                {
                    "index": index,
                    "id": f"call-{index}",
                    "type": "function",
                    "function": {"name": name, "arguments": "{}"},
                }
                for index, name in enumerate(names)
            ]
        }
    choice = {"index": 0, "delta": delta, "finish_reason": "tool_calls" if not called else "stop"}
    return f"data: {json.dumps({'choices': [choice]})}\n\ndata: [DONE]\n\n".encode()


# --- What is planted --------------------------------------------------------------------------


def operation(url: str, name: str, **constants: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": constants}
    function = {"name": name, "description": f"Does {name}.", "parameters": parameters}
    return {
        "type": "restapi-tool",
        "rest_api_method_info": {"method_url": url, "method_type": "get"},
        "open_ai_tool": {"function": function},
    }


def constant(place: str, key: str, value: Any) -> dict[str, Any]:
    return {"type": None, "const": value, "parameter_info": {"type": place, "key": key}}


def toolsets(url: str, place: str) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return a toolset of each kind, and the secrets that they name."""
    secrets: dict[str, str] = {}

    def credential(name: str) -> Any:
        if place != "secret":
            return mark(f"{place}-{name}")
        secrets[f"{place}-{name}"] = mark(f"{place}-{name}")
        return {"$secret": f"{place}-{name}"}

    def rest(name: str, authorization: Any, *, path: str = "ok", **constants: Any) -> Any:
        tool = operation(f"{url}/{path}/{name}", "ask", **constants)
        named = {"type": "rest-api", "name": f"{place}-{name}", "tools": [tool]}
        return {**named, "authorization": authorization}

    def mcp(name: str, authorization: Any) -> Any:
        server = {
            "url": f"{url}/mcp",
            "protocol": "streamable_http",
            "authorization": authorization,
        }
        return {"type": "mcp", "name": f"{place}-{name}", "mcp_server_info": server}

    client = {"type": "client_id_secret", "client_id": "me", "token_url": f"{url}/token"}
    key = {"type": "api_key", "name": "X-Key"}
    found = [
        rest("bearer", {"type": "bearer", "token": credential("bearer")}),
        rest("failing", {"type": "bearer", "token": credential("failing")}, path="fail"),
        rest("basic", {"type": "basic", "username": "me", "password": credential("basic")}),
        rest("header", {**key, "location": "header", "key": credential("header")}),
        rest("query", {**key, "location": "query", "key": credential("query")}, path="fail"),
        rest("body", {**key, "location": "body", "key": credential("body")}),
        rest("client", {**client, "client_secret": credential("client")}),
        rest("constant", None, k=constant("header", "X-Api-Key", credential("constant"))),
        rest("asked", None, path="fail", k=constant("query", "token", credential("asked"))),
        mcp("mcp-bearer", {"type": "bearer", "token": credential("mcp-bearer")}),
        mcp("mcp-client", {**client, "client_secret": credential("mcp-client")}),
        mcp("mcp-key", {**key, "key": credential("mcp-key")}),
        {"type": "rest-api", "name": "typo", "tools": [], "api_key": mark(f"{place}-typo")},
    ]
    return found, secrets


PLANT = """
from django.contrib.auth import get_user_model
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from apps.accounts.models import ApiKey
from apps.catalog.models import Application, ContentItem, OperatorKey
from apps.workspace.local.models import Deployment, Secret

for name, value in secrets.items():
    secret = Secret(name=name, value=value, servers=[url])
    secret.full_clean()
    secret.save()
Deployment.objects.create(
    deployment_id="marked-model", display_name="M", base_url=f"{url}/v1", model_name="m",
    api_key=keys["deployment"],
)
Deployment.objects.create(
    deployment_id="refusing", display_name="R", base_url=f"{url}/refusing", model_name="m",
    api_key=keys["refusing"],
)
numbers = {}
for slug, manifest in manifests.items():
    row = Application(slug=slug, title=slug, manifest=manifest, is_public=True)
    row.full_clean()
    row.save()
    row.description = "Changed."
    row.save()
    numbers[slug] = row.pk
ContentItem.objects.create(kind="toolset", name="marked", text=item)
user = get_user_model().objects.create_superuser("operator", "", "a-password-for-tests")
session = SessionStore()
session[SESSION_KEY] = str(user.pk)
session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
session[HASH_SESSION_KEY] = user.get_session_auth_hash()
session.create()
_, api_key = ApiKey.objects.create_key(name="program")
_, operator_key = OperatorKey.objects.create_key(name="script", user=user)
result = [session.session_key, api_key, operator_key, numbers]
"""


# --- What is looked through -------------------------------------------------------------------


def fetched(url: str, headers: dict[str, str], body: Any = None) -> tuple[int, str]:
    """Return the status, and headers and body as one text."""
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    request = Request(url, data, {"content-type": "application/json", **headers})
    try:
        with urlopen(request, timeout=PATIENCE) as found:
            return found.status, f"{found.headers}\n{found.read().decode()}"
    except HTTPError as error:
        with error:
            return error.code, f"{error.headers}\n{error.read().decode()}"


MEANT = {"catalog_application.manifest", "catalog_contentitem.text"}
"""Locations of plain credentials that cannot be secrets."""


def stored(folder: Path) -> dict[str, str]:
    """Return every column of the database as stored on disk."""
    [path] = folder.glob("*.sqlite3")
    found = {}
    with closing(sqlite3.connect(path)) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
            for column in columns:
                rows = database.execute(f'SELECT "{column}" FROM "{table}"').fetchall()
                found[f"{table}.{column}"] = repr(rows)
    return found


def leaks(found: dict[str, str], *marks: str) -> dict[str, str]:
    """Return the locations of the marks, with their context."""
    return {
        name: text[max(text.find(one) - 120, 0) : text.find(one) + 40]
        for name, text in found.items()
        for one in (MARK, BASIC, *marks)
        if one in text
    }


@pytest.mark.slow("looks for a credential in every answer, log and object")
@proves("m1.12", "G-61")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("form", ["text", pytest.param("json", marks=pytest.mark.full)])
async def test_no_credential_is_seen_anywhere(tmp_path: Path, form: str):
    with (
        serve_services() as (url, told),
        serve_collector() as collector,
        serve_core() as core,
        serve(
            tmp_path,
            DIAL_URL=core.url,
            OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
            OTEL_BSP_SCHEDULE_DELAY="50",
            OTEL_LOGS_EXPORTER="otlp",
            OTEL_BLRP_SCHEDULE_DELAY="50",
            DIAL_SDK_LOG_FORMAT=form,
            LOG_LEVEL="DEBUG",
            QUICKAPP_LOG_LEVEL="DEBUG",
            LOG_PAYLOADS="true",
            LOG_PAYLOADS_MAX_LENGTH="1000000",
        ) as site,
    ):
        seen, ours = await look_everywhere(site, core, url)
        collector.wait_for(ROUTE, 3)
        spans = repr(collector.raw)
        keys = [key for key in core.keys.dead if len(key) > 20]

    said = "\n".join(told)
    arrived = {name for name in PLANTED if mark(name) in said}
    assert arrived == PLANTED  # otherwise, the search would have found nothing to search
    log = site.log.read_text(errors="replace")
    assert "execute" in spans
    assert keys
    seen |= {"spans": spans, "log": log}
    columns = stored(tmp_path)
    seen |= {name: text for name, text in columns.items() if name not in MEANT}
    assert leaks(seen, *keys, *ours) == {}
    typed = re.findall(rf"{MARK}-saved-([a-z-]+)-0", columns["catalog_application.manifest"])
    assert typed == ["typo"]  # its server is unknown


SENT = ("bearer", "failing", "header", "query", "body", "constant", "asked")
PLANTED = {
    *(f"{place}-{name}" for place in PLACES for name in (*SENT, "mcp-bearer", "mcp-key")),
    "deployment",
    "refusing",
    "token",
}
"""Credentials that the services must have received as plain text. Others are sent in base64."""


async def look_everywhere(site: Site, core: Any, url: str) -> tuple[dict[str, str], list[str]]:
    """Use every feature. Return the responses by request, and the keys of the requests."""
    secrets: dict[str, str] = {}
    manifests: dict[str, Any] = {}
    for place in PLACES:
        found, named = toolsets(url, place)
        secrets |= named
        manifests[place] = manifest("marked-model", found)
    manifests["refused"] = manifest("refusing", [])
    [item, *_], _ = toolsets(url, "plain")
    session, api_key, operator_key, numbers = site.shell(
        PLANT,
        secrets=secrets,
        url=url,
        manifests={slug: found for slug, found in manifests.items() if slug != "saved"},
        item=json.dumps(item),
        keys={"deployment": mark("deployment"), "refusing": mark("refusing")},
    )
    typed = {"slug": "saved", "title": "saved", "is_public": True, "manifest": manifests["saved"]}
    operator = {"authorization": f"Bearer {operator_key}"}
    status, answered = fetched(f"{site.url}/api/applications/", operator, typed)
    assert status == 201, answered
    numbers["saved"] = site.shell("result = Application.objects.get(slug='saved').pk")
    seen = {"answer to saving": answered}
    for slug in manifests:
        for stream in (False, True):
            asked = {"messages": [{"role": "user", "content": "Do it."}], "stream": stream}
            address = f"{site.url}/openai/deployments/{slug}/chat/completions"
            status, text = fetched(address, {"api-key": api_key}, asked)
            assert status == (401 if slug == "refused" else 200), text
            seen[f"answer of {slug} {stream}"] = text
        tab = PageSocket(site.url, slug, visitor_cookie(site.url, slug))
        tab.ask("Do it.")
        frames: list[dict[str, Any]] = []
        while not frames or frames[-1]["type"] not in {"message.complete", "run.error"}:
            frame = tab.frame()
            assert frame is not None
            frames.append(frame)
        tab.close()
        seen[f"page of {slug}"] = json.dumps(frames)
        configuration = f"{site.url}/openai/deployments/{slug}/configuration"
        seen[f"configuration of {slug}"] = fetched(configuration, {"api-key": api_key})[1]
    support = f"{site.url}/v1/configuration-support"
    for name in ("application-schema", "default-configuration", "skills"):
        seen[name] = fetched(f"{support}/{name}", {})[1]
    broken = json.loads(json.dumps(manifests["plain"]))
    broken["tool_sets"][0]["authorization"]["token"] = [mark("broken")]
    broken["tool_sets"][1]["authorization"]["type"] = "bearr"
    status, seen["validate"] = fetched(f"{support}/validate", {"api-key": api_key}, broken)
    assert status == 200
    seen |= look_at_the_api(site, operator_key, manifests)
    seen |= look_at_the_admin(site, session, numbers)

    core.add_model("gpt", [[{"text": "Fine."}], [{"error": {"status": 400, "message": "No."}}]])
    kept = manifest("gpt", toolsets(url, "plain")[0])
    core.add_schema(TYPE, f"{site.url}/openai/deployments/quick_apps2/chat/completions", kept)
    core.add_application("kept", None, kept, TYPE)
    for turn in range(2):
        question = {"messages": [{"role": "user", "content": "Do it."}]}
        reply = await core.call_application("kept", question)
        seen[f"answer to Core {turn}"] = reply.text
    return seen, [operator_key, api_key]


def manifest(model: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "orchestrator": {"deployment": {"deployment_id": model}},
        "contexts": [],
        "tool_sets": found,
        "features": {"stage_display": {"level": "debug"}},
    }


def look_at_the_api(site: Site, key: str, manifests: dict[str, Any]) -> dict[str, str]:
    headers = {"authorization": f"Bearer {key}"}
    names = ["applications/", "deployments/", "deployments/marked-model/", "schema/"]
    names += [f"applications/{slug}/" for slug in manifests]
    seen = {name: fetched(f"{site.url}/api/{name}", headers) for name in names}
    assert {status for status, _ in seen.values()} == {200}
    stale = {"manifest": {**manifests["plain"], "contexts": 5}}
    posted = fetched(f"{site.url}/api/applications/", headers, {"slug": "x", "title": "x", **stale})
    assert posted[0] == 400
    wrong = {"authorization": f"Bearer {key.partition('.')[0]}.{mark('operator')}"}
    refused = fetched(f"{site.url}/api/applications/", wrong)
    assert refused[0] == 401
    told = {"refused by the API": posted[1], "refused key": refused[1]}
    return {name: text for name, (_, text) in seen.items()} | told


def look_at_the_admin(site: Site, session: str, numbers: dict[str, int]) -> dict[str, str]:
    headers = {"cookie": f"sessionid={session}"}
    paths = ["catalog/application/", "workspace/secret/", "workspace/deployment/"]
    paths += ["workspace/mcpserver/", "workspace/mcpserver/sessions/"]
    paths += ["catalog/contentitem/", "catalog/contentitem/item/toolset/marked/"]
    paths += ["catalog/contentitem/1/change/", "catalog/contentitem/1/history/"]
    paths += [f"workspace/{name}/1/{page}/" for name in ("secret", "deployment") for page in PAGES]
    for number in numbers.values():
        paths += [f"catalog/application/{number}/{page}/" for page in APPLICATION_PAGES]
        paths.append(f"catalog/application/new/?copy={number}")
    seen = {path: fetched(f"{site.url}/admin/{path}", headers) for path in paths}
    assert {path: status for path, (status, _) in seen.items() if status != 200} == {}
    return {path: text for path, (_, text) in seen.items()} | look_at_trials(site, headers, numbers)


PAGES = ("change", "history", "delete")
APPLICATION_PAGES = ("history", "versions", "studio", "versions/publish")


def look_at_trials(site: Site, headers: dict[str, str], numbers: dict[str, int]) -> dict[str, str]:
    """Open every toolset in the studio, and call each REST tool."""
    token = "x" * 64
    headers = {**headers, "cookie": f"{headers['cookie']}; csrftoken={token}"}
    headers |= {"x-csrftoken": token, "referer": site.url}
    called = {"arguments": {"mode": "json", "json": "{}"}}
    seen: dict[str, tuple[int, str]] = {}
    for slug in PLACES:
        url = f"{site.url}/admin/catalog/application/{numbers[slug]}/studio/tools/trial/"
        typed = site.shell(
            """
            from apps.catalog.versions.definitions import shown_definition
            result = shown_definition(Application.objects.get(pk=pk)).manifest
            """,
            pk=numbers[slug],
        )
        bodies: list[dict[str, Any]] = [{"place": place} for place in ("all", *range(12))]
        for index, name in enumerate(("bearer", "failing", "basic", "header", "query")):
            bodies.append({"place": index, "name": f"{slug}-{name}_ask", **called})
        for body in bodies:
            seen[f"{slug} {body}"] = fetched(url, headers, {"manifest": typed, **body})
    assert {path: status for path, (status, _) in seen.items() if status != 200} == {}
    return {path: text for path, (_, text) in seen.items()}

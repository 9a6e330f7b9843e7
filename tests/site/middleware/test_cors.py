"""Pages of configured origins call the gateway with their own key."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from quickapps_site.middleware.cors import with_cors
from tests.gateway.scripts import Answer, Client
from tests.site.conftest import PAGE
from tests.sites.serving import Site

OTHER = "https://evil.example"
EXPOSED = (
    "Content-Disposition, Content-Range, ETag, Retry-After, WWW-Authenticate, "
    "X-Ignored-Parameters, X-Request-ID"
)


async def door(scope: Any, receive: Any, send: Any) -> None:
    """Answer in two pieces and report what arrived."""
    start = {"type": "http.response.start", "status": 200, "headers": [(b"x-door", b"open")]}
    await send(start)
    await send({"type": "http.response.body", "body": b"one ", "more_body": True})
    await send({"type": "http.response.body", "body": scope["method"].encode()})


async def ask(origins: list[str], method: str, path: str, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    client = Client(with_cors(door, origins), path, method=method, headers=named)
    await client.send()
    return await client.read()


async def preflight(origins: list[str], path: str, origin: str) -> Answer:
    return await ask(
        origins,
        "OPTIONS",
        path,
        origin=origin,
        access_control_request_method="PUT",
        access_control_request_headers="api-key,content-type,x-stainless-lang",
    )


def shared(answer: Answer) -> dict[str, str]:
    start = "access-control-"
    return {
        name.lower().removeprefix(start): value
        for name, value in answer.headers.items()
        if name.lower().startswith(start)
    }


@pytest.mark.parametrize("path", ["/openai/v1/chat/completions", "/v1/files/key-1/a"])
async def test_a_named_page_is_told_what_it_may_send(path: str):
    answer = await preflight([PAGE], path, PAGE)

    assert answer.status == 200
    assert shared(answer) == {
        "allow-origin": PAGE,
        "allow-methods": "GET, HEAD, POST, PUT, DELETE",
        "allow-headers": "api-key,content-type,x-stainless-lang",
        "max-age": "600",
    }


@pytest.mark.parametrize("path", ["/openai/v1/models", "/v1/bucket"])
async def test_a_named_page_reads_answers_as_they_come(path: str):
    answer = await ask([PAGE], "POST", path, origin=PAGE)

    assert shared(answer) == {"allow-origin": PAGE, "expose-headers": EXPOSED}
    assert (answer.pieces, answer.headers["x-door"]) == ((b"one ", b"POST"), "open")
    assert "Origin" in answer.headers["vary"]


async def test_no_other_page_is_let_in():
    asked = await preflight([PAGE], "/v1/models", OTHER)
    answer = await ask([PAGE], "GET", "/v1/models", origin=OTHER)

    assert asked.status == 400
    assert "allow-origin" not in shared(asked) | shared(answer)


async def test_a_star_is_everybody():
    asked = await preflight(["*"], "/v1/models", OTHER)
    answer = await ask(["*"], "GET", "/v1/models", origin=OTHER)

    assert [shared(one)["allow-origin"] for one in (asked, answer)] == ["*", "*"]
    assert "allow-credentials" not in shared(asked) | shared(answer)


@pytest.mark.parametrize("path", ["/", "/api/applications/", "/files/a/b", "/admin/", "/v1x/"])
async def test_pages_and_scripts_stay_closed(path: str):
    asked = await preflight([PAGE], path, PAGE)
    answer = await ask([PAGE], "GET", path, origin=PAGE)

    assert shared(asked) | shared(answer) == {}


async def test_nothing_is_put_around_a_site_without_the_setting():
    assert with_cors(door, []) is door


# --- The real site -------------------------------------------------------------------------------

QUESTION = {"model": "demo", "messages": [{"role": "user", "content": "Hello"}], "stream": True}


@pytest.fixture(scope="module")
def key(site: Site) -> str:
    code = """
        from apps.accounts.models import ApiKey
        result = ApiKey.objects.create_key(name="page")[1]
        """
    return str(site.shell(code))


@pytest.mark.parametrize(
    "path", ["/v1/chat/completions", "/openai/deployments/demo/chat/completions"]
)
async def test_the_consumers_that_stand_before_django_are_reached(site: Site, key: str, path: str):
    async with httpx.AsyncClient(base_url=site.url, timeout=60, trust_env=False) as browser:
        wish = {"Origin": PAGE, "Access-Control-Request-Method": "POST"}
        asked = await browser.options(path, headers=wish)
        headers = {"Origin": PAGE, "Authorization": f"Bearer {key}"}
        async with browser.stream("POST", path, headers=headers, json=QUESTION) as answer:
            lines = [line async for line in answer.aiter_lines() if line]

    allowed = "access-control-allow-origin"
    assert (asked.status_code, asked.headers[allowed]) == (200, PAGE)
    assert (answer.status_code, answer.headers[allowed], lines[-1]) == (200, PAGE, "data: [DONE]")


@pytest.mark.parametrize("origin", [PAGE, "http://localhost:3000", OTHER, "null"])
async def test_a_page_is_no_program_of_this_machine(site: Site, origin: str):
    async with httpx.AsyncClient(base_url=site.url, timeout=60, trust_env=False) as browser:
        program = await browser.post("/v1/chat/completions", json=QUESTION)
        page = await browser.post("/v1/chat/completions", json=QUESTION, headers={"Origin": origin})

    assert (program.status_code, page.status_code) == (200, 401)

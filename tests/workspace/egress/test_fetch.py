"""Files from the Internet: what is fetched, what is refused, and the errors."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any

import pytest

from apps.workspace.egress.fetch import FetchedFile, FetchRefused, fetch
from apps.workspace.egress.fetch_policy import FetchPolicy
from tests.contract import proves
from tests.servers import hostile_urls
from tests.servers.hostile_urls import (
    LIMIT,
    PAYLOAD,
    SECONDS,
    SLOW,
    Hostile,
    hostile_internet,
    problem,
)
from tests.servers.internet import answer, drip, internet, moved, ok, packed, silence
from tests.tables import each_row

ANY = FetchPolicy()
FETCHED = [url for url in hostile_urls.URLS if url.reason is not None]


@pytest.fixture(autouse=True)
def _switched_on(settings: Any) -> None:
    settings.EXTERNAL_URL_FETCH_ENABLED = True


async def refused(
    url: str, limit: int = LIMIT, seconds: float = 5.0, policy: FetchPolicy = ANY
) -> tuple[str, str]:
    with pytest.raises(FetchRefused) as error:
        await fetch(url, policy, limit, seconds=seconds)
    return error.value.reason, str(error.value)


# --- What a fetch brings ----------------------------------------------------------------------


async def test_a_file_comes_with_its_type_and_name():
    pages = {"/q%201.csv": ok(b"a,b\n", content_type="text/CSV; charset=utf-8")}
    async with internet(pages) as net:
        found = await fetch("http://files.example/q%201.csv?key=1#top", ANY, LIMIT, seconds=5)

    assert found == FetchedFile(b"a,b\n", "text/csv", "q 1.csv", "utf-8")
    assert net.asked[0].startswith("GET /q%201.csv?key=1 HTTP/1.1\r\n")


@proves("17")
@each_row(
    ("path", "headers", "name"),
    [
        ("/a.txt", {"content_disposition": 'attachment; filename="b c.txt"'}, "b c.txt"),
        ("/a", {"content_disposition": "attachment; filename*=UTF-8''Gr%C3%B6%C3%9Fe.txt"}, "Größe.txt"),
        ("/a", {"content_disposition": 'inline; filename="../../etc/passwd"'}, "passwd"),
        ("/a", {"content_disposition": 'inline; filename="C:\\\\x\\\\y.doc"'}, "y.doc"),
        ("/a.txt", {"content_disposition": 'inline; filename=".."'}, "a.txt"),
        ("/a.txt", {"content_disposition": "inline; filename*=nonsense''b%20c"}, "b c"),
        ("/%2e%2e%2fsecret.txt", {}, "secret.txt"),
        ("/folder/", {}, "folder"),
        ("/", {"content_type": "application/pdf"}, "external-26d95fce31ff9f3a.pdf"),
        ("/", {}, "external-26d95fce31ff9f3a"),
        (f"/{'n' * 300}.csv", {}, f"{'n' * 196}.csv"),
    ],
)  # fmt: skip
async def test_the_name_is_the_servers_else_the_paths_else_one_of_the_address(
    path: str, headers: dict[str, str], name: str
):
    async with internet({path: ok(b"x", **headers)}):
        found = await fetch(f"http://files.example{path}", ANY, LIMIT, seconds=5)

    assert found.filename == name


@pytest.mark.parametrize(
    ("path", "told", "expected"),
    [
        ("/a.png", "", "image/png"),
        ("/a.png", "nonsense", "image/png"),
        ("/a", "", "application/octet-stream"),
        ("/a.png", "text/html", "text/html"),
    ],
)
async def test_the_type_is_the_servers_else_guessed_from_the_name(
    path: str, told: str, expected: str
):
    async with internet({path: ok(b"x", content_type=told)}):
        found = await fetch(f"http://files.example{path}", ANY, LIMIT, seconds=5)

    assert found.content_type == expected


@proves("17")
async def test_nothing_of_ours_goes_along(monkeypatch: pytest.MonkeyPatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setitem(os.environ, name, "http://127.0.0.1:1")
    pages = {"/a": moved("http://other.example/b"), "/b": ok(b"x", set_cookie="a=b")}
    async with internet(pages) as net:
        await fetch("http://me:secret@files.example/a", ANY, LIMIT, seconds=5)
        await fetch("http://files.example/b", ANY, LIMIT, seconds=5)

    for request in net.asked:
        names = {line.partition(":")[0].lower() for line in request.split("\r\n")[1:] if line}
        assert names == {"host", "accept", "accept-encoding", "connection", "user-agent"}


@proves("17")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_followed_as_far_as_they_may_be(settings: Any, status: int):
    settings.EXTERNAL_URL_FETCH_MAX_REDIRECTS = 2
    pages = {
        "/1": moved("/2", status),
        "/2": moved("http://other.example/3", status),
        "/3": ok(b"there"),
        "/0": moved("/1", status),
    }
    async with internet(pages):
        found = await fetch("http://files.example/1", ANY, LIMIT, seconds=5)
        reason, told = await refused("http://files.example/0")

    assert found == FetchedFile(b"there", "application/octet-stream", "3")
    assert (reason, told) == (
        "redirect_cap",
        "External URL http://files.example/0 exceeded the configured redirect limit.",
    )


@proves("17")
async def test_without_redirects_the_first_is_one_too_many(settings: Any):
    settings.EXTERNAL_URL_FETCH_MAX_REDIRECTS = 0
    async with internet({"/1": moved("/2"), "/2": ok(b"x")}) as net:
        assert (await refused("http://files.example/1"))[0] == "redirect_cap"

    assert len(net.asked) == 1


@proves("17")
@pytest.mark.parametrize(
    "page", [ok(b"x" * 10), ok(b"x" * 10, content_length=""), packed(b"x" * 10)]
)
async def test_a_file_may_be_as_large_as_the_limit_and_no_larger(page: Any):
    async with internet({"/a": page}):
        assert (await fetch("http://files.example/a", ANY, 40, seconds=5)).content == b"x" * 10
        reason, _ = await refused("http://files.example/a", limit=9)

    assert reason == "size_limit"


@proves("17")
async def test_a_name_is_looked_up_once_for_each_connection_and_what_was_judged_is_dialled():
    async with internet({"/a": ok(b"x")}) as net:
        net.name("rebinding.example", ["93.184.215.15"], ["127.0.0.1"])
        await fetch("http://rebinding.example/a", ANY, LIMIT, seconds=5)

    assert net.looked_up.count("rebinding.example") == 1
    assert net.dialled == [("93.184.215.15", 80)]


async def test_a_public_address_needs_no_name():
    async with internet({"/a": ok(b"x")}):
        assert (await fetch("http://93.184.215.14/a", ANY, LIMIT, seconds=5)).content == b"x"


# --- What is refused --------------------------------------------------------------------------

URL = f"http://u:{PAYLOAD}@files.example/a.csv?{PAYLOAD}#x"
SHOWN = "External URL http://files.example/a.csv"


@proves("17")
@each_row(
    ("page", "reason", "told"),
    [
        (ok(b"x" * (LIMIT + 1)), "size_limit", f"{SHOWN} exceeds the configured file-size limit."),
        (
            moved("http://10.0.0.1/"),
            "ssrf_block",
            f"{SHOWN} resolves to a blocked address (loopback, private, link-local, or "
            "cloud-metadata).",
        ),
        (moved("/a.csv"), "redirect_cap", f"{SHOWN} exceeded the configured redirect limit."),
        (silence, "timeout", f"{SHOWN} timed out."),
        (drip, "timeout", f"{SHOWN} timed out."),
        (answer(404, b"s3cret"), "transport", f"{SHOWN} could not be fetched. The server returned status 404."),
        (answer(304), "transport", f"{SHOWN} could not be fetched. The server returned status 304."),
        (ok(b"x", content_encoding="br"), "transport", f"{SHOWN} could not be fetched."),
    ],
)  # fmt: skip
async def test_every_failure_has_its_reason_and_its_words(page: Any, reason: str, told: str):
    async with internet({"/a.csv": page}):
        seconds = SECONDS if reason == "timeout" else 30
        assert await refused(URL, seconds=seconds) == (reason, told)


@each_row(
    ("url", "shown"),
    [
        ("http://[b", "http:…"),
        ("http://a b/x?y", "http://a b/x"),
        ("ftp://files.example/a", "ftp://files.example/a"),
        ("http://files.example:0/", "http://files.example:0/"),
    ],
)
async def test_a_text_that_is_no_address_is_refused_as_such(url: str, shown: str):
    async with internet({}):
        assert await refused(url) == (
            "ssrf_block",
            f"External URL {shown} is not a valid HTTP URL.",
        )


@proves("17")
async def test_a_connection_that_is_not_made_in_time_is_a_time_out(settings: Any):
    settings.EXTERNAL_URL_FETCH_CONNECT_TIMEOUT_SECONDS = 0.05

    async def never(*_: Any) -> None:
        await asyncio.Event().wait()

    async with internet() as net:
        net.connect = never  # type: ignore[method-assign, assignment]
        reason, told = await refused(URL)

    assert (reason, told) == ("timeout", f"{SHOWN} timed out.")


async def test_a_connection_that_is_refused_is_a_failure_of_transport():
    async with internet() as net:
        net.ports = {"93.184.215.14": 1}
        assert await refused(URL) == ("transport", f"{SHOWN} could not be fetched.")


@proves("17")
async def test_a_slow_server_has_no_more_time_than_the_whole_fetch():
    async with internet({"/1": moved("/2"), "/2": drip}):
        started = time.monotonic()
        reason, _ = await refused("http://files.example/1", seconds=0.3)

    assert reason == "timeout"
    assert time.monotonic() - started < 30  # the slow body never ends


@proves("17")
@each_row("hostile", FETCHED)
async def test_nothing_hostile_is_fetched(hostile: Hostile):
    async with hostile_internet() as net:
        url = hostile.url.replace("{secret}", str(net.secret))
        reason, told = await refused(url, seconds=SECONDS if hostile in SLOW else 30)

    assert (reason, problem(net, hostile, told)) == (hostile.reason, "")


# --- Whose wish it is -------------------------------------------------------------------------

ADMIN = "External URL fetching is disabled by operator policy (EXTERNAL_URL_FETCH_ENABLED)."
BUILDER = (
    "External URL fetching is disabled by this app (features.external_url_fetch.enabled=false)."
)
ADMIN_LIST = (
    "External URL host is not in the operator allowlist (EXTERNAL_URL_FETCH_HOST_ALLOWLIST)."
)
BUILDER_LIST = (
    "External URL host is not in this app's allowlist (features.external_url_fetch.host_allowlist)."
)


@proves("17")
@each_row(
    ("admin", "builder", "reason", "told"),
    [
        (False, FetchPolicy(), "admin", ADMIN),
        (False, FetchPolicy(enabled=True), "admin", ADMIN),
        (False, FetchPolicy(enabled=False), "admin", ADMIN),
        (True, FetchPolicy(enabled=False), "builder", BUILDER),
        (True, FetchPolicy(enabled=False, hosts=("files.example",)), "builder", BUILDER),
        (True, FetchPolicy(hosts=()), "builder_allowlist", BUILDER_LIST),
        (True, FetchPolicy(hosts=("other.example",)), "builder_allowlist", BUILDER_LIST),
        (["other.example"], FetchPolicy(), "admin_allowlist", ADMIN_LIST),
        (["other.example"], FetchPolicy(enabled=False), "builder", BUILDER),
        (["other.example"], FetchPolicy(hosts=("files.example",)), "admin_allowlist", ADMIN_LIST),
        (["other.example"], FetchPolicy(hosts=("x.example",)), "admin_allowlist", ADMIN_LIST),
        (["files.example"], FetchPolicy(hosts=("x.example",)), "builder_allowlist", BUILDER_LIST),
    ],
)  # fmt: skip
async def test_the_policy_decides_before_the_name_is_looked_up(
    settings: Any, admin: Any, builder: FetchPolicy, reason: str, told: str
):
    settings.EXTERNAL_URL_FETCH_ENABLED = bool(admin)
    settings.EXTERNAL_URL_FETCH_HOST_ALLOWLIST = admin if isinstance(admin, list) else []
    async with internet({"/a": ok(b"x")}) as net:
        found = await refused("http://files.example/a?token=1", policy=builder)

    assert found == (reason, told)
    assert net.looked_up == []


@proves("17")
@pytest.mark.parametrize(
    ("admin", "builder"),
    [
        ([], FetchPolicy()),
        ([], FetchPolicy(enabled=True)),
        (["files.example"], FetchPolicy()),
        ([], FetchPolicy(hosts=("files.example",))),
        (["*.example"], FetchPolicy(enabled=True, hosts=("FILES.example",))),
    ],
)
async def test_what_both_allow_is_fetched(settings: Any, admin: list[str], builder: FetchPolicy):
    settings.EXTERNAL_URL_FETCH_HOST_ALLOWLIST = admin
    async with internet({"/a": ok(b"x")}):
        assert (await fetch("http://files.example/a", builder, 1, seconds=5)).content == b"x"


@proves("17")
@pytest.mark.parametrize("target", ["http://other.example/b", "http://93.184.215.15/b"])
async def test_the_lists_are_asked_again_for_each_redirect(settings: Any, target: str):
    settings.EXTERNAL_URL_FETCH_HOST_ALLOWLIST = ["files.example"]
    async with internet({"/a": moved(target), "/b": ok(b"x")}) as net:
        found = await refused("http://files.example/a")

    assert found == ("admin_allowlist", ADMIN_LIST)
    assert net.looked_up == ["files.example"]

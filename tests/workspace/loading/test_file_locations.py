"""The file that an address refers to."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.workspace.loading.file_locations import FileLocation, locate_file
from tests.contract import proves
from tests.tables import each_row


@pytest.fixture(autouse=True)
def _core(settings) -> None:
    settings.DIAL_URL = "https://core.example/dial"


@proves("17")
@each_row(
    ("url", "place"),
    [
        ("files/b/a.txt", FileLocation("stored", "files/b/a.txt")),
        ("/files/b/a.txt", FileLocation("stored", "files/b/a.txt")),
        (" files/b/my notes.txt ", FileLocation("stored", "files/b/my notes.txt")),
        ("/etc/passwd", FileLocation("stored", "/etc/passwd")),
        ("https://core.example/dial/v1/files/b/a%20b.txt?x=1#y", FileLocation("stored", "files/b/a%20b.txt")),
        ("HTTPS://me:pw@CORE.example:443/dial/v1/files/b/a", FileLocation("stored", "files/b/a")),
        ("https://core.example/dial/v1/prompts/b/a", FileLocation("stored", "prompts/b/a")),
        ("https://core.example/elsewhere", FileLocation("stored", "elsewhere")),
        ("http://core.example/dial/v1/files/b/a", FileLocation("external", "http://core.example/dial/v1/files/b/a")),
        ("https://core.example@evil.example/v1/files/b/a", FileLocation("external", "https://core.example@evil.example/v1/files/b/a")),
        ("https://a.example/files/b", FileLocation("external", "https://a.example/files/b")),
        ("http://127.0.0.1/", FileLocation("external", "http://127.0.0.1/")),
        ("notes/a b.txt", FileLocation("relative", "notes/a%20b.txt")),
        ("notes/a%20b.txt", FileLocation("relative", "notes/a%20b.txt")),
        ("100%.txt", FileLocation("relative", "100%25.txt")),
        ("report at 10:30.txt", FileLocation("relative", "report%20at%2010%3A30.txt")),
        ("data:,x", FileLocation("data", "data:,x")),
        ("DATA:text/plain,x", FileLocation("data", "DATA:text/plain,x")),
    ],
)  # fmt: skip
def test_places_are_told_apart(url: str, place: FileLocation):
    assert locate_file(url) == place


@proves("17")
@each_row(
    "url",
    [
        "",
        "  ",
        "file:///etc/passwd",
        "ftp://a.example/a",
        "javascript:alert(1)",
        "C:\\x",
        "//a.example/x",
        "http://",
        "http:///x",
        "https:x",
        "http://[nonsense",
        "http://a.example/\nx",
        "a\x00b",
        "..",
        "../a",
        "notes/../../a",
        "notes/%2e%2e/a",
        "notes\\a",
        "files/b/../c/a",
        "files/b/%2E%2E/c/a",
        "./a",
    ],
)
def test_what_is_no_place_of_a_file(url: str):
    assert locate_file(url).kind == "unsupported"


@given(st.text(max_size=80))
def test_every_text_is_some_place_and_none_leads_upwards(text: str):
    place = locate_file(text)

    if place.kind in {"stored", "relative"}:
        assert not {".", ".."} & {unquote(part) for part in place.address.split("/")}
    if place.kind == "relative":
        assert locate_file(place.address) == place


hosts = st.sampled_from(["core.example", "CORE.EXAMPLE", "core.example.", "core.example:443"])
paths = st.lists(st.text("abc%20 ü", min_size=1, max_size=8), min_size=1, max_size=4)


@proves("17")
@given(hosts, paths)
def test_whatever_is_at_dial_is_never_fetched_from_outside(host: str, path: list[str]):
    assert locate_file(f"https://{host}/{'/'.join(path)}").kind != "external"


@proves("17")
@given(
    st.from_regex(r"[a-z][a-z0-9+.-]{0,10}", fullmatch=True), st.text("a/@:?#.[]\\", max_size=20)
)
def test_no_other_scheme_is_loaded(scheme: str, rest: str):
    kind = locate_file(f"{scheme}:{rest}").kind

    assert kind == "unsupported" or scheme in {"http", "https", "data"}

from __future__ import annotations

import pytest

from apps.errors import FileMissing
from apps.workspace.dial.core import Core, configured_core, encode_path
from apps.workspace.dial.resources import resource_path
from tests.tables import each_row

CORE = Core("https://core.example.org/dial")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gpt-4o", "gpt-4o"),
        ("applications/b7/My App__1.0", "applications/b7/My%20App__1.0"),
        ("applications/b7/My%20App__1.0", "applications/b7/My%20App__1.0"),
        ("files/b7/100%25 sure?.txt", "files/b7/100%25%20sure%3F.txt"),
        ("files/b7/a#b;c&d=(e)+f.txt", "files/b7/a%23b;c&d=(e)+f.txt"),
        ("files/b7/naïve.txt", "files/b7/na%C3%AFve.txt"),
    ],
)
def test_each_segment_is_encoded_once(name, expected):
    assert encode_path(name) == expected
    assert encode_path(expected) == expected


@each_row(
    "name",
    ["", "a//b", "../b", "a/%2e%2e/b", "a/./b", "a/b%2Fc", "a\\b", "a/b%0d%0aX: y", "a/%ff", "a/"],
)
def test_what_could_name_something_else_than_it_says_is_no_name(name):
    with pytest.raises(ValueError, match=r"segment of a path|control characters|decode"):
        encode_path(name)


@each_row(
    ("url", "expected"),
    [
        ("https://core.example.org/dial/v1/files/b7/a.txt", "files/b7/a.txt"),
        ("https://CORE.example.org:443/dial/files/b7/a.txt", "files/b7/a.txt"),
        ("https://core.example.org/dial.evil/files/b7/a.txt", None),
        ("https://core.example.org/other/files/b7/a.txt", None),
        ("https://core.example.org.evil/dial/files/b7/a.txt", None),
        ("http://core.example.org/dial/files/b7/a.txt", None),
        ("https://core.example.org:8443/dial/files/b7/a.txt", None),
        ("https://core.example.org@evil.example/dial/files/b7/a.txt", None),
        ("https://me@core.example.org/dial/files/b7/a.txt", None),
        ("https://core.example.org:99999/dial/files/b7/a.txt", None),
    ],
)
def test_an_address_is_on_core_only_with_its_scheme_host_port_and_path(url, expected):
    assert CORE.path_of(url) == expected


@pytest.mark.parametrize(
    "path",
    [
        "files/b7",
        "prompts/b7/a.txt",
        "/files/b7/a.txt",
        "files/b7/../../v1/ops/x",
        "https://elsewhere.example/files/b7/a.txt",
        "data:text/plain,x",
        "",
    ],
)
def test_what_is_no_path_of_a_file_is_as_if_missing(path):
    with pytest.raises(FileMissing, match=r"The file .* does not exist"):
        resource_path(CORE, path)


def test_an_address_on_core_is_a_path(settings):
    assert (
        resource_path(CORE, "https://core.example.org/dial/v1/files/b7/my dir/")
        == "files/b7/my%20dir/"
    )


def test_the_settings_name_core(settings):
    settings.DIAL_URL = ""
    assert configured_core() is None

    settings.DIAL_URL = "https://core.example.org"
    assert configured_core() == Core("https://core.example.org", "2025-01-01-preview", 60.0, 120.0)

"""A value never changes the address that is called."""

from urllib.parse import unquote, urlsplit

import pytest
from httpx import Request
from hypothesis import example, given
from hypothesis import strategies as st

from apps.capabilities.rest.url_templates import path_values, read_address
from apps.errors import InvalidParameter
from apps.workspace.egress.urls import AddressInvalid
from tests.contract import proves
from tests.tables import each_row


@proves("8")
@given(value=st.text(min_size=1), other=st.text(min_size=1), query=st.text())
@example(value="../../etc", other="a/b", query="x")
@example(value="..;/", other="@evil.example", query="a&b=c")
@example(value="%2e%2e%2f", other="\\..\\", query="#")
@example(value="\r\nHost: evil", other="?a=b", query="\ud800")
@example(value="\ud800", other="a", query="")
def test_any_text_stays_in_its_segment(value, other, query):
    address = read_address("https://api.example.org:8443/v1/{a}/x-{b}.json?fixed=1")

    try:
        path = path_values(address, {"a": value, "b": other}, {"a": "a", "b": "b"})
    except InvalidParameter:
        assert value in {".", ".."}
        return
    url = address.url(path, {"q": query})

    for parts in (urlsplit(url), urlsplit(str(Request("GET", url).url))):
        assert (parts.scheme, parts.netloc, parts.fragment) == ("https", "api.example.org:8443", "")
        segments = parts.path.split("/")
        assert (segments[:2], len(segments)) == (["", "v1"], 4)
        assert [pair.partition("=")[0] for pair in parts.query.split("&")] == ["fixed", "q"]
        if value.isprintable() and other.isprintable():
            assert [unquote(item) for item in segments[2:]] == [value, f"x-{other}.json"]


@proves("8")
@pytest.mark.parametrize(
    ("template", "value", "message"),
    [
        ("{a}", "..", "Parameter id is invalid: '.' and '..' are not allowed here."),
        ("{a}", ".", "Parameter id is invalid: '.' and '..' are not allowed here."),
        (".{a}", ".", "Parameter id is invalid: '.' and '..' are not allowed here."),
        ("{a}", "", "Parameter id is invalid: it is part of a URL and must not be empty."),
        ("{a}", None, "Parameter id is invalid: it is part of a URL and must not be empty."),
        (
            "{a}",
            ["x"],
            ("Parameter id is invalid: it is part of a URL; pass a string or a number."),
        ),
    ],
)
def test_a_value_that_would_change_the_path_is_refused(template, value, message):
    address = read_address(f"https://api.example.org/v1/{template}")

    with pytest.raises(InvalidParameter) as error:
        path_values(address, {"id": value}, {"a": "id"})

    assert str(error.value) == message


@proves("8")
@pytest.mark.parametrize(
    ("value", "segment"), [(7, "7"), (1.5, "1.5"), (True, "true"), ("a b/é", "a%20b%2F%C3%A9")]
)
def test_text_and_numbers_are_escaped(value, segment):
    address = read_address("https://api.example.org/{a}/{a}")

    path = path_values(address, {"id": value}, {"a": "id"})

    assert address.url(path, {}) == f"https://api.example.org/{segment}/{segment}"


@proves("8")
@each_row(
    ("url", "message"),
    [
        ("", "use a URL that begins with http://, https:// or /."),
        ("ftp://a.example/", "use a URL that begins with http://, https:// or /."),
        ("https:///path", "use a URL that begins with http://, https:// or /."),
        ("https://a.example:x/", "the URL is not valid"),
        ("https://[::1/", "the URL is not valid"),
        ("https://user:secret@a.example/", "remove the username and password; use `authorization`"),
        ("https://{tenant}.example/", "placeholders are allowed only in the path"),
        ("https://xn--a.example/", "the host is not a valid name."),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_with_the_reason(url, message):
    with pytest.raises(AddressInvalid) as error:
        read_address(url)

    assert message in str(error.value)
    assert "secret" not in str(error.value)

"""The model reads all structured content of results except binary data."""

import base64

import pytest

from apps.capabilities.mcp.messages.structured_content import without_binary
from tests.contract import proves
from tests.tables import each_row

BYTES = bytes(range(256)) * 4
DATA = base64.b64encode(BYTES).decode()
SAFE = base64.urlsafe_b64encode(BYTES).decode().rstrip("=")
LINES = base64.encodebytes(BYTES).decode()
URI = f"data:image/png;base64,{DATA}"

UNKNOWN = "(application/octet-stream, 1,024 bytes, not shown)"
PICTURE = "(image/png, 1,024 bytes, not shown)"


@proves("9.4")
@each_row(
    ("value", "told"),
    [
        (DATA, UNKNOWN),
        (SAFE, UNKNOWN),
        (LINES, UNKNOWN),
        (URI, PICTURE),
        (f"![a]({URI}) and ![b]({URI})", f"![a]({PICTURE}) and ![b]({PICTURE})"),
        (f"Here: {URI} is it", f"Here: {PICTURE} is it"),
        (f"data:image/png;base64,{LINES}Next line", f"{PICTURE}\nNext line"),
        (f'[{{"type": "image", "data": "{DATA}"}}]', f'[{{"type": "image", "data": "{UNKNOWN}"}}]'),
        (
            {"mimeType": "image/png", "data": DATA[:64]},
            {"mimeType": "image/png", "data": "(image/png, 48 bytes, not shown)"},
        ),
        ("data:;base64,AAAA", "(application/octet-stream, 3 bytes, not shown)"),
        ("data:text/css;charset=utf-8;base64,AA==", "(text/css, 1 bytes, not shown)"),
        (
            {"file": {"mimeType": "image/png", "blob": DATA}},
            {"file": {"mimeType": "image/png", "blob": PICTURE}},
        ),
        (
            {"mimeType": "image/png", "versions": [{"data": DATA}]},
            {"mimeType": "image/png", "versions": [{"data": PICTURE}]},
        ),
        ([1, 2.5, None, True, {"a": [DATA]}], [1, 2.5, None, True, {"a": [UNKNOWN]}]),
    ],
)
def test_what_is_binary_is_named_and_everything_else_stays(value, told):
    assert without_binary(value) == told


@each_row(
    "text",
    [
        "",
        DATA[:1_000],
        "ACGT" * 500,
        "0123456789abcdef" * 100,
        "x" * 2_000,
        "Words in a long text, 1 and 2. " * 100,
        f"https://a.example/?token={SAFE[:1_000]}",
        "data:text/plain,Hello",
        "https://a.example/base64,AAAA",
    ],
)
def test_texts_stay(text):
    assert without_binary({"text": text}) == {"text": text}


@pytest.mark.parametrize(
    "part", ["data:", "data:;", "A\n", "\n", "data:;base64,A ", "aA1!", "data:;base64,A\n"]
)
def test_long_texts_are_read_in_a_time_that_grows_with_their_length(part):
    text = f"{part * 30_000}!"

    assert without_binary(text).endswith("!")

"""A credential that a server repeats is hidden in any encoding."""

import html
import json
import re
from urllib.parse import quote, quote_plus

import pytest

from apps.capabilities.wrappers.redaction import credential_patterns, hide_credentials

CREDENTIAL = "sk/+&<b>'\"\\ ü\U0001f511-0123"
LETTERS = CREDENTIAL.encode("utf-16-be")
UNITS = [LETTERS[place : place + 2].hex() for place in range(0, len(LETTERS), 2)]
CODED = "".join(f"\\u{unit}" for unit in UNITS)
JSON = json.dumps(CREDENTIAL)[1:-1]
PERCENT = quote(CREDENTIAL, safe="")
SPELLINGS = {
    "plain": CREDENTIAL,
    "JSON": JSON,
    "JSON of UTF-8": json.dumps(CREDENTIAL, ensure_ascii=False)[1:-1],
    "JSON with slashes": JSON.replace("/", r"\/"),
    "JSON for pages": JSON.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003E"),
    "JSON in numbers": CODED,
    "JSON in large numbers": CODED.upper().replace("\\U", "\\u"),
    "JSON in JSON": json.dumps(CODED)[1:-1],
    "address": PERCENT,
    "address in small letters": re.sub("%..", lambda one: one[0].lower(), PERCENT),
    "form": quote_plus(CREDENTIAL),
    "address in letters of which all are coded": "".join(
        f"%{byte:02x}" for byte in CREDENTIAL.encode()
    ),
    "address in an address": quote(PERCENT),
    "HTML": html.escape(CREDENTIAL),
    "HTML in numbers": "".join(f"&#{ord(letter)};" for letter in CREDENTIAL),
    "HTML in hexadecimal numbers": "".join(f"&#X{ord(letter):X};" for letter in CREDENTIAL),
    "XML": CREDENTIAL.replace("&", "&amp;").replace("<", "&lt;").replace("'", "&apos;"),
    "HTML in JSON for pages": html.escape(CREDENTIAL).replace("\\", "\\\\").replace("&", r"\u0026"),
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_each_spelling_is_hidden_and_what_is_around_it_stays(spelling):
    around = r"Wrong \"key\" %41 &amp; \u00e9: {} 100% & \/ &lt; twice: {}."
    wanted = credential_patterns([CREDENTIAL, "other-one", "short"])

    told = hide_credentials(around.replace("{}", spelling), wanted)

    assert told == around.replace("{}", "[hidden]")


def test_a_credential_that_is_a_part_of_another_leaves_nothing_of_it():
    wanted = credential_patterns(["marked-0123", "sk-marked-0123456789", "0123456789-and-more"])

    assert hide_credentials("sk-marked-0123456789 marked-0123", wanted) == "[hidden] [hidden]"
    assert hide_credentials("sk-marked-0123456789-and-more!", wanted) == "[hidden]!"


def test_a_letter_in_two_units_is_read_when_only_one_has_its_backslash_again():
    assert (
        hide_credentials(r"is \\ud83d\\udd11-0123!", credential_patterns(["\U0001f511-0123"]))
        == "is [hidden]!"
    )


def test_without_a_long_credential_nothing_is_hidden():
    assert (
        hide_credentials(r"short \u0073hort", credential_patterns(["short", ""]))
        == r"short \u0073hort"
    )

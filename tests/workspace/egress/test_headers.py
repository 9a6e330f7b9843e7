from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from apps.workspace.egress.headers import MARK, retry_after, with_mark
from tests.contract import proves
from tests.tables import each_row


@proves("13.2")
@each_row(
    ("written", "seconds"),
    [
        ("7", 7.0),
        (" 0 ", 0.0),
        ("", None),
        ("soon", None),
        ("-3", None),
        ("²", None),
        ("9" * 400, None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 -0000", 0.0),
    ],
)
def test_seconds_or_a_date_are_read_and_nothing_else(written, seconds):
    assert retry_after({"retry-after": written}) == seconds


@proves("D-33")
def test_a_date_is_so_many_seconds_away():
    moment = datetime.now(UTC) + timedelta(seconds=100)

    found = retry_after({"retry-after": format_datetime(moment, usegmt=True)})

    assert found is not None
    assert 90 < found <= 100


def test_a_missing_header_says_nothing():
    assert retry_after({}) is None


@each_row(
    ("host", "is_own"),
    [
        ("localhost", True),
        ("localhost.", True),
        ("127.0.0.1", True),
        ("::1", True),
        ("127.1", False),
        ("files.example", False),
    ],
)
def test_only_requests_to_this_site_are_marked(host, is_own, settings):
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]

    sent = with_mark([(b"accept", b"*/*")], host.encode())

    assert sent == [(b"accept", b"*/*"), *([MARK] if is_own else [])]

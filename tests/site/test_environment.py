from __future__ import annotations

import re
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from quickapps_site import environment as env

ROOT = Path(__file__).parent.parent.parent


WRONG: list[tuple[str, Callable[[], object], str]] = [
    ("maybe", partial(env.boolean, "X", True), "X is 'maybe'; write true or false."),
    ("0", partial(env.integer, "X", 5, least=1), "X is '0'; write a whole number from 1 up."),
    (
        "1.5",
        partial(env.integer, "X", 5, least=1, also=-1),
        "X is '1.5'; write a whole number from 1 up, or -1.",
    ),
    (
        "11",
        partial(env.integer, "X", 5, least=0, most=10),
        "X is '11'; write a whole number from 0 to 10.",
    ),
    (
        "0",
        partial(env.seconds, "X", 5.0, most=3600),
        "X is '0'; write a number of seconds above 0, at most 3600.",
    ),
    (
        "-1",
        partial(env.seconds, "X", 5.0, most=3600, zero=True),
        "X is '-1'; write a number of seconds from 0, at most 3600.",
    ),
    (
        "nan",
        partial(env.seconds, "X", 5.0, most=3600),
        "X is 'nan'; write a number of seconds above 0, at most 3600.",
    ),
    (
        "loud",
        partial(env.choice, "X", "INFO", ("DEBUG", "INFO")),
        "X is 'loud'; write one of DEBUG, INFO.",
    ),
    (
        "deployment:",
        partial(env.embeddings, "X"),
        "X is 'deployment:'; write minilm, or deployment: and the id of a deployment.",
    ),
    (
        "ftp://host",
        partial(env.url, "X", "", ("http", "https")),
        "X is 'ftp://host'; write an address that begins with http:// or https://.",
    ),
    (
        '"/etc"',
        partial(env.paths, "X"),
        'X is \'"/etc"\'; write a JSON list of directories, such as ["/etc/content"].',
    ),
    (
        "10.0.0.0/8, proxy",
        partial(env.networks, "X"),
        "X is '10.0.0.0/8, proxy'; write addresses and networks such as 10.0.0.5, 10.1.0.0/16.",
    ),
    (
        '["a", 1]',
        partial(env.texts, "X"),
        'X is \'["a", 1]\'; write a JSON list of texts, such as ["docs_reader"].',
    ),
    (
        '{"today": "x"}',
        partial(env.mapping, "X", besides=("today",)),
        'X is \'{"today": "x"}\'; write a JSON object of texts by names other than today.',
    ),
    (
        '{"p": "x"}',
        partial(env.groups, "X"),
        'X is \'{"p": "x"}\'; write a JSON object of lists, such as {"gpt_prompt": ["gpt-4o"]}.',
    ),
    (
        '{"p": ["a", "b"], "q": ["b"]}',
        partial(env.groups, "X"),
        "X has b more than once.",
    ),
    (
        '["("]',
        partial(env.patterns, "X"),
        """X is '["("]'; write a JSON list of regular expressions, such as """
        """["\\"tool\\":\\"desk_close"].""",
    ),
    (
        "https://*.example.org",
        partial(env.origins, "X"),
        "X is 'https://*.example.org'; write origins such as https://chat.example.org.",
    ),
    (
        "https://chat.example.org; script-src *",
        partial(env.origins, "X", patterns=True),
        "X is 'https://chat.example.org; script-src *'; write origins such as "
        "https://chat.example.org or https://*.example.org.",
    ),
    (
        "mysql://host/name",
        partial(env.database, "X", "sqlite:///x"),
        "X is 'mysql://host/name'; write an address that begins with "
        "sqlite:// or postgres:// or postgresql://.",
    ),
]


def test_a_wrong_value_stops_with_its_name_and_what_is_accepted(
    monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
):
    for raw, read, message in WRONG:
        with subtests.test(raw=raw):
            monkeypatch.setenv("X", raw)

            with pytest.raises(ImproperlyConfigured) as refused:
                read()

            assert str(refused.value) == message


GOOD: list[tuple[str, Callable[[], object], object]] = [
    ("Yes", partial(env.boolean, "X", False), True),
    ("", partial(env.boolean, "X", True), True),
    ("-1", partial(env.integer, "X", 5, least=1, also=-1), -1),
    ('["a", "b c"]', partial(env.texts, "X"), ["a", "b c"]),
    ('["^a", "b,c"]', partial(env.patterns, "X"), ["^a", "b,c"]),
    (" 0.5 ", partial(env.seconds, "X", 5.0, most=3600), 0.5),
    ("minilm", partial(env.embeddings, "X"), ""),
    ("deployment:text.1", partial(env.embeddings, "X"), "text.1"),
    ("debug", partial(env.choice, "X", "INFO", ("DEBUG", "INFO")), "DEBUG"),
    ("a, b,,c ", partial(env.words, "X"), ["a", "b", "c"]),
    ("", partial(env.words, "X", ("a",)), []),
    (
        "https://chat.example.org/, http://127.0.0.1:*,",
        partial(env.origins, "X", patterns=True),
        ["https://chat.example.org", "http://127.0.0.1:*"],
    ),
]


def test_a_good_value_is_read(monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests):
    for raw, read, value in GOOD:
        with subtests.test(raw=raw):
            monkeypatch.setenv("X", raw)

            assert read() == value


def test_a_secret_is_made_once_and_only_its_owner_may_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("X", raising=False)
    file = tmp_path / "deep" / "secret.key"

    first = env.secret("X", file)

    assert len(first) >= 50
    assert env.secret("X", file) == first
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_given_secret_is_used_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("X", "given")

    assert env.secret("X", tmp_path / "secret.key") == "given"
    assert list(tmp_path.iterdir()) == []


def test_every_setting_of_the_environment_is_documented():
    code = "".join(
        module.read_text(encoding="utf-8") for module in (ROOT / "quickapps_site").glob("*.py")
    )
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    read = set(re.findall(r"env\.[a-z]+\(\s*\"([A-Z][A-Z0-9_]*)\"", code))

    documented = set(re.findall(r"`([A-Z][A-Z0-9_]*)`", page))

    assert read - documented == set(), "each needs a row in docs/settings.md"


SMTP = "django.core.mail.backends.smtp.EmailBackend"


@pytest.mark.parametrize(
    ("raw", "mail"),
    [
        ("", None),
        ("console:", env.Mail("django.core.mail.backends.console.EmailBackend")),
        (
            "file:///var/mail%20box",
            env.Mail("django.core.mail.backends.filebased.EmailBackend", "/var/mail box"),
        ),
        ("smtp://mail.example.org", env.Mail(SMTP, host="mail.example.org")),
        (
            "smtp+tls://me:p%40ss@mail.example.org",
            env.Mail(
                SMTP,
                host="mail.example.org",
                port=587,
                user="me",
                password="p@ss",
                is_upgraded=True,
            ),
        ),
        (
            "smtp+ssl://mail.example.org:4650",
            env.Mail(SMTP, host="mail.example.org", port=4650, is_encrypted=True),
        ),
    ],
)
def test_how_mail_is_sent_is_one_address(monkeypatch, raw, mail):
    monkeypatch.setenv("X", raw)

    assert env.mail("X") == mail


@pytest.mark.parametrize(
    "raw", ["imap://me:secret@host", "smtp://", "file://host/secret", "smtp://me:secret@host:no"]
)
def test_a_wrong_address_of_mail_stops_the_start_without_its_password(monkeypatch, raw):
    monkeypatch.setenv("X", raw)

    with pytest.raises(ImproperlyConfigured) as raised:
        env.mail("X")

    assert str(raised.value).startswith("X cannot be read; write smtp://")
    assert "secret" not in str(raised.value)


def test_an_older_variable_of_layers_counts_alone_and_says_that_it_is_old(monkeypatch):
    monkeypatch.setenv("OLD", " /etc/old ")
    with pytest.warns(UserWarning, match="OLD is deprecated; write NEW instead"):
        assert env.paths("NEW", deprecated="OLD") == ["/etc/old"]

    monkeypatch.setenv("NEW", '["/etc/a", " ", "/etc/b"]')
    with pytest.warns(UserWarning, match="OLD is ignored, because NEW is set"):
        assert env.paths("NEW", deprecated="OLD") == ["/etc/a", "/etc/b"]

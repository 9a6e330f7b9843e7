from __future__ import annotations

import re
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from quickapps_site import environment as env
from quickapps_site import service_urls

ROOT = Path(__file__).parent.parent.parent


WRONG: list[tuple[str, Callable[[], object], str]] = [
    ("maybe", partial(env.boolean, "X", True), "X is 'maybe'; use true or false."),
    ("0", partial(env.integer, "X", 5, least=1), "X is '0'; use a whole number from 1 up."),
    (
        "1.5",
        partial(env.integer, "X", 5, least=1, also=-1),
        "X is '1.5'; use a whole number from 1 up, or -1.",
    ),
    (
        "11",
        partial(env.integer, "X", 5, least=0, most=10),
        "X is '11'; use a whole number from 0 to 10.",
    ),
    (
        "0",
        partial(env.seconds, "X", 5.0, most=3600),
        "X is '0'; use a number of seconds above 0, up to 3600.",
    ),
    (
        "-1",
        partial(env.seconds, "X", 5.0, most=3600, zero=True),
        "X is '-1'; use a number of seconds from 0, up to 3600.",
    ),
    (
        "nan",
        partial(env.seconds, "X", 5.0, most=3600),
        "X is 'nan'; use a number of seconds above 0, up to 3600.",
    ),
    (
        "loud",
        partial(env.choice, "X", "INFO", ("DEBUG", "INFO")),
        "X is 'loud'; use one of DEBUG, INFO.",
    ),
    (
        "deployment:",
        partial(env.embeddings, "X"),
        "X is 'deployment:'; use minilm, or deployment: and the ID of a deployment.",
    ),
    (
        "ftp://host",
        partial(env.url, "X", "", ("http", "https")),
        "X is 'ftp://host'; use a URL that begins with http:// or https://.",
    ),
    (
        '"/etc"',
        partial(env.paths, "X"),
        'X is \'"/etc"\'; use a JSON list of directories, such as ["/etc/content"].',
    ),
    (
        "10.0.0.0/8, proxy",
        partial(env.networks, "X"),
        "X is '10.0.0.0/8, proxy'; use addresses and networks such as 10.0.0.5, 10.1.0.0/16.",
    ),
    (
        '["a", 1]',
        partial(env.texts, "X"),
        'X is \'["a", 1]\'; use a JSON list of strings, such as ["docs_reader"].',
    ),
    (
        '{"today": "x"}',
        partial(env.mapping, "X", besides=("today",)),
        'X is \'{"today": "x"}\'; use a JSON object with strings as values, and names other than today.',
    ),
    (
        '{"p": "x"}',
        partial(env.groups, "X"),
        'X is \'{"p": "x"}\'; use a JSON object of lists, such as {"gpt_prompt": ["gpt-4o"]}.',
    ),
    (
        '{"p": ["a", "b"], "q": ["b"]}',
        partial(env.groups, "X"),
        "X has b more than once; remove the duplicates.",
    ),
    (
        "s3://key:secret@files",
        partial(service_urls.bucket, "X"),
        "X cannot be parsed; use s3://bucket or s3://bucket/prefix, with the parameters "
        "endpoint (https://host) and region.",
    ),
    (
        '["("]',
        partial(env.patterns, "X"),
        """X is '["("]'; use a JSON list of regular expressions, such as """
        """["\\"tool\\":\\"desk_close"].""",
    ),
    (
        "https://*.example.org",
        partial(env.origins, "X"),
        "X is 'https://*.example.org'; use origins such as https://chat.example.org.",
    ),
    (
        "https://chat.example.org; script-src *",
        partial(env.origins, "X", patterns=True),
        "X is 'https://chat.example.org; script-src *'; use origins such as "
        "https://chat.example.org or https://*.example.org.",
    ),
    (
        "mysql://host/name",
        partial(service_urls.database, "X", "sqlite:///x"),
        "X is 'mysql://host/name'; use a URL that begins with "
        "sqlite:// or postgres:// or postgresql://.",
    ),
    (
        "postgres://me:secret@host/name?sslmode=require&sslMode=disable",
        partial(service_urls.database, "X", "sqlite:///x"),
        "X has the parameter 'sslMode', which libpq does not support; use parameters such as sslmode=require, in lower case.",
    ),
    (
        "postgres://me:secret@host/name?sslmode=%zz",
        partial(service_urls.database, "X", "sqlite:///x"),
        "X cannot be parsed; use postgres://user:password@host:port/name.",
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


FROM_FILES: list[tuple[str, Callable[[], object], object]] = [
    ("s3cret", partial(env.text, "X"), "s3cret"),
    ("new, old", partial(env.words, "X"), ["new", "old"]),
    ("rediss://me:pass@cache", partial(env.url, "X", "", ("rediss",)), "rediss://me:pass@cache"),
    ("s3cret", partial(env.secret, "X", Path("/nowhere/secret.key")), "s3cret"),
]


def test_every_kind_of_setting_is_read_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
):
    file = tmp_path / "x"
    monkeypatch.setenv("X_FILE", str(file))
    for raw, read, value in FROM_FILES:
        with subtests.test(raw=raw):
            file.write_text(f"{raw}\n")

            assert read() == value


def test_a_wrong_value_of_a_file_is_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "x"
    file.write_text("s3cret")
    monkeypatch.setenv("X_FILE", str(file))

    with pytest.raises(ImproperlyConfigured) as refused:
        env.integer("X", 5, least=1)

    assert str(refused.value) == "X_FILE contains no valid X; use a whole number from 1 up."


def test_a_missing_file_stops_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("X_FILE", str(tmp_path / "x"))

    with pytest.raises(ImproperlyConfigured, match=r"^X_FILE: .* cannot be read: No such file"):
        env.secret("X", tmp_path / "secret.key")


@pytest.mark.parametrize("read", [env.url, service_urls.database])
def test_a_wrong_address_is_not_repeated_if_it_has_a_password(monkeypatch, read):
    monkeypatch.setenv("X", "mysql://me:secret@host/name")

    with pytest.raises(ImproperlyConfigured) as refused:
        read("X", "", ("redis",)) if read is env.url else read("X", "")

    assert str(refused.value).startswith("X cannot be parsed; use a URL that begins with ")


def test_every_setting_of_the_environment_is_documented():
    code = "".join(
        module.read_text(encoding="utf-8") for module in (ROOT / "quickapps_site").glob("*.py")
    )
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    read = set(re.findall(r"env\.[a-z]+\(\s*\"([A-Z][A-Z0-9_]*)\"", code))

    documented = set(re.findall(r"`([A-Z][A-Z0-9_]*)`", page))

    assert read - documented == set(), "each needs a row in docs/settings.md"


@pytest.mark.parametrize(
    ("raw", "database"),
    [
        ("sqlite:////var/lib/a%20b.sqlite3", {"NAME": "/var/lib/a b.sqlite3"}),
        ("sqlite:///site.sqlite3", {"NAME": "site.sqlite3"}),
        ("sqlite://:memory:", {"NAME": ":memory:"}),
        (
            "postgres://me:p%40ss@db.example.org:5433/apps?sslmode=require",
            {
                "NAME": "apps",
                "USER": "me",
                "PASSWORD": "p@ss",
                "HOST": "db.example.org",
                "PORT": "5433",
                "sslmode": "require",
            },
        ),
        (
            "postgresql:///apps?host=/run/postgresql",
            {"NAME": "apps", "USER": "", "PASSWORD": "", "HOST": "/run/postgresql", "PORT": ""},
        ),
    ],
)
def test_a_database_is_one_address(monkeypatch, raw: str, database: dict[str, str]):
    monkeypatch.setenv("X", raw)

    found = service_urls.database("X", "")

    del found["ENGINE"]
    assert not found.pop("DISABLE_SERVER_SIDE_CURSORS", False)
    options = found.pop("OPTIONS")
    assert {**found, **{key: options[key] for key in ("sslmode",) if key in options}} == database


@pytest.mark.parametrize(
    "raw",
    [
        "postgres://db/apps?pgbouncer=true",
        "postgres://db/apps?pgbouncer=true&sslmode=require",
        "postgres://db/apps?sslmode=require&pgbouncer=true",
    ],
)
def test_a_database_can_be_behind_a_pooler_of_transactions(monkeypatch, raw: str):
    monkeypatch.setenv("X", raw)

    found = service_urls.database("X", "")

    assert (found["NAME"], found["DISABLE_SERVER_SIDE_CURSORS"]) == ("apps", True)
    assert found["OPTIONS"].get("sslmode") == ("require" if "sslmode" in raw else None)
    assert "pgbouncer" not in found["OPTIONS"]


SMTP = "django.core.mail.backends.smtp.EmailBackend"


@pytest.mark.parametrize(
    ("raw", "mail"),
    [
        ("", None),
        ("console:", service_urls.Mail("django.core.mail.backends.console.EmailBackend")),
        (
            "file:///var/mail%20box",
            service_urls.Mail("django.core.mail.backends.filebased.EmailBackend", "/var/mail box"),
        ),
        ("smtp://mail.example.org", service_urls.Mail(SMTP, host="mail.example.org")),
        (
            "smtp+tls://me:p%40ss@mail.example.org",
            service_urls.Mail(
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
            service_urls.Mail(SMTP, host="mail.example.org", port=4650, is_encrypted=True),
        ),
    ],
)
def test_how_mail_is_sent_is_one_address(monkeypatch, raw, mail):
    monkeypatch.setenv("X", raw)

    assert service_urls.mail("X") == mail


@pytest.mark.parametrize(
    "raw", ["imap://me:secret@host", "smtp://", "file://host/secret", "smtp://me:secret@host:no"]
)
def test_a_wrong_address_of_mail_stops_the_start_without_its_password(monkeypatch, raw):
    monkeypatch.setenv("X", raw)

    with pytest.raises(ImproperlyConfigured) as raised:
        service_urls.mail("X")

    assert str(raised.value).startswith("X cannot be parsed; use smtp://")
    assert "secret" not in str(raised.value)


def test_an_older_variable_of_layers_counts_alone_and_says_that_it_is_old(monkeypatch):
    monkeypatch.setenv("OLD", " /etc/old ")
    with pytest.warns(UserWarning, match="OLD is deprecated; use NEW instead"):
        assert env.paths("NEW", deprecated="OLD") == ["/etc/old"]

    monkeypatch.setenv("NEW", '["/etc/a", " ", "/etc/b"]')
    with pytest.warns(UserWarning, match="OLD is ignored, because NEW is set"):
        assert env.paths("NEW", deprecated="OLD") == ["/etc/a", "/etc/b"]

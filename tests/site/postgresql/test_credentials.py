"""The database password is rotated while the server runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from quickapps_site.postgresql.credentials import with_current_credentials

PARAMETERS = {"host": "db", "user": "apps", "password": "old", "autocommit": True}


def test_new_connections_use_the_password_that_the_file_has_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    file = tmp_path / "database_url"
    monkeypatch.setenv("DATABASE_URL_FILE", str(file))
    found = []
    for written in (
        "postgres://apps:old@db/name",
        "postgres://other:n%40w@elsewhere/name?pgbouncer=true",
        "postgres://db/name",
        "postgres://apps:s3cret@db/name?sslmod=x",
        "",
    ):
        file.write_text(written)
        found.append(with_current_credentials(PARAMETERS))

    rotated = {**PARAMETERS, "user": "other", "password": "n@w"}
    assert found == [PARAMETERS, rotated, PARAMETERS, PARAMETERS, PARAMETERS]
    assert "s3cret" not in caplog.text


def test_without_a_file_the_password_is_that_of_the_start():
    assert with_current_credentials(PARAMETERS) == PARAMETERS

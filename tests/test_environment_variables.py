"""Environment variables whose values are read from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from apps.environment_variables import WrongVariable, current_setting, read_variable


def test_a_variable_is_read_from_the_file_that_another_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "token"
    file.write_text("s3cret\n")
    monkeypatch.setenv("X_FILE", str(file))

    assert read_variable("X") == "s3cret"
    assert read_variable("Y") is None

    file.write_text("rotated\r\n")
    monkeypatch.setenv("X", " ")

    assert read_variable("X") == "rotated"


def test_what_is_wrong_with_a_file_is_named_without_its_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
):
    (tmp_path / "empty").write_text(" \n")
    (tmp_path / "latin").write_bytes(b"pass\xfcword")
    for name, message in [
        ("none", "cannot be read: No such file or directory."),
        ("", "cannot be read: Is a directory."),
        ("empty", "is empty; write the value into it."),
        ("latin", "is not UTF-8; save it as UTF-8."),
    ]:
        with subtests.test(name=name):
            file = tmp_path / name
            monkeypatch.setenv("X_FILE", str(file))

            with pytest.raises(WrongVariable) as refused:
                read_variable("X")

            assert str(refused.value) == f"X_FILE: {file} {message}"


def test_a_variable_and_its_file_together_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("X", "s3cret")
    monkeypatch.setenv("X_FILE", "/run/secrets/x")

    with pytest.raises(WrongVariable, match=r"^X and X_FILE are both set; set only one of them\.$"):
        read_variable("X")


def test_a_setting_from_a_file_follows_it_and_outlives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings, caplog: pytest.LogCaptureFixture
):
    settings.METRICS_TOKEN = "of the start"
    assert current_setting("METRICS_TOKEN") == "of the start"

    file = tmp_path / "token"
    file.write_text("rotated\n")
    monkeypatch.setenv("METRICS_TOKEN_FILE", str(file))
    assert current_setting("METRICS_TOKEN") == "rotated"

    file.unlink()
    assert current_setting("METRICS_TOKEN") == "of the start"
    assert caplog.messages == [
        f"METRICS_TOKEN_FILE: {file} cannot be read: No such file or directory. "
        "Still using the value that was read at startup."
    ]

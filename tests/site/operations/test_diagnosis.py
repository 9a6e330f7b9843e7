"""A diagnosis of a working site, and of one whose services are all down, without secrets."""

from __future__ import annotations

import inspect
import json
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from quickapps_site.operations.diagnosis import sections, variables, work
from quickapps_site.operations.diagnosis.round_trips import clock_difference
from quickapps_site.operations.diagnosis.sections import ReportSection, read_sections
from tests.databases.postgresql import address_of, database
from tests.servers.http import serving
from tests.services import absence
from tests.sites.fork_server import ROOT
from tests.sites.serving import empty_site, new_site

MARK = "planted-5k"


def mark(place: str) -> str:
    return f"{MARK}-{place}-0123456789"


class Telling(BaseHTTPRequestHandler):
    """A model service that repeats the key in its refusal."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = f"Wrong key: {self.headers['authorization']}".encode()
        self.send_response(401)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


PLANT = """
import traceback
from django.utils import timezone
from apps.live.models import RunSummary
from apps.tasks.models import ChoreRun, TaskFailure
from apps.workspace.local.models import Deployment, McpServer, Secret
Secret.objects.create(name="stored", value=mark("secret"), servers=["https://a.example.org"])
McpServer.objects.create(
    name="desk", command="desk", arguments=["--key", mark("argument")],
    environment='{"KEY": "' + mark("variable") + '"}',
)
Deployment.objects.create(
    deployment_id="refusing", display_name="R", base_url=f"{url}/v1?key={mark('parameter')}",
    api_key=mark("deployment"),
)
Deployment.objects.create(deployment_id="demo-again", display_name="D", provider="demo")
try:
    raise ValueError(f"No: {mark('message')}\\n{mark('line').replace('-', '_')}: more")
except ValueError as error:
    text = "".join(traceback.format_exception(error))
text = text.replace("  File", '  File "/srv/apps/tasks/running.py", line 7, in call\\n    x()\\n  File')
TaskFailure.objects.create(job="1", task="t", attempt=1, is_final=True, error=text)
ChoreRun.objects.create(
    work="w", started_at=timezone.now(), seconds=1, error=f"KeyError: {mark('chore')}"
)
RunSummary.objects.create(
    door="page", application="desk", bucket=mark("bucket"), status="failed", error_reference="ref-7"
)
result = None
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("site")
    (folder / "token").write_text(mark("file"))
    provider = {
        "id": "desk",
        "name": "Desk",
        "server_url": "https://id.example.org",
        "client_id": "me",
        "client_secret_env": "DESK_PROVIDER",
    }
    site = new_site(
        folder,
        SECRET_KEY=mark("key"),
        SECRET_KEY_FALLBACKS=f"{mark('older')},{mark('oldest')}",
        SALT_KEY=mark("salt"),
        METRICS_TOKEN_FILE=str(folder / "token"),
        EMAIL_URL=f"smtp://me:{mark('mail')}@127.0.0.1:1",
        EMAIL_FROM="desk@example.org",
        DIAL_URL=f"http://me:{mark('address')}@127.0.0.1:1",
        DIAL_EDITOR_API_KEY=mark("editor"),
        PY_INTERPRETER_API_KEY=mark("interpreter"),
        PY_INTERPRETER_DEFAULT_SESSION_ID=mark("session"),
        PROMPT_VARIABLES=json.dumps({"code": mark("prompt")}),
        DESK_PROVIDER=mark("provider"),
        SIGN_IN_PROVIDERS=json.dumps([provider]),
        CHAT_SCRIPTS=f"https://a.example.org/x.js?key={mark('script')}",
        LOG_LEVEL="WARNING",
    )
    with serving(Telling) as url:
        site.shell(f"MARK = {MARK!r}\n{inspect.getsource(mark)}{PLANT}", url=url)
        yield site.manage("diagnose", "-")


def test_a_report_has_every_section_and_what_went_wrong(report: str):
    found = json.loads(report)

    assert {title: value for title, value in found.items() if sections.has_failed(value)} == {}
    assert found["settings"]["LOG_LEVEL"] == "WARNING"
    assert found["settings"]["SECRET_KEY"] == "[hidden]"
    assert found["settings"]["EMAIL_URL"] == "smtp://[hidden]@127.0.0.1:1"
    assert found["settings"]["CHAT_SCRIPTS"] == "https://a.example.org/x.js?key=[hidden]"
    assert found["migrations"]["pending"] == []
    assert found["tables"]["runs_runsummary"] == {"rows": 1}
    assert found["redis"] == "REDIS_URL is not set."
    [job], [chore], [run] = found["failed_jobs"], found["chores"], found["runs"]["failed"]
    assert (job["error"], job["where"]) == ("ValueError", ["apps/tasks/running.py:7 in call"])
    assert chore["error"] == "KeyError"
    assert (run["application"], run["error_reference"]) == ("desk", "ref-7")
    answers = {one["id"]: one.get("failed", "answered") for one in found["deployments"]}
    assert answers["refusing"] == "key"
    assert answers["demo-again"] == "answered"
    assert set(found["seconds"]) == set(found) - {"made_at", "seconds"}


def test_a_report_shows_no_secret(report: str):
    assert MARK not in report
    assert MARK.replace("-", "_") not in report


@contextmanager
def mute_service() -> Iterator[int]:
    """Accept connections without ever responding."""
    kept: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    kept.append(server.accept()[0])

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            for one in kept:
                one.close()


@pytest.mark.slow("waits for services that do not answer")
@pytest.mark.parametrize("is_mute", [True, False], ids=["mute", "refusing"])
def test_a_report_is_complete_while_everything_is_down(tmp_path: Path, is_mute: bool):
    with mute_service() as port:
        port = port if is_mute else 1
        site = empty_site(
            tmp_path,
            DATABASE_URL=f"postgres://me:{mark('database')}@127.0.0.1:{port}/none",
            REDIS_URL=f"redis://:{mark('redis')}@127.0.0.1:{port}/0",
        )
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "manage.py", "diagnose", str(tmp_path / "report.json")],
            cwd=ROOT,
            env=site.environment,
            capture_output=True,
            text=True,
            timeout=250,
        )

    took = time.monotonic() - began
    text = (tmp_path / "report.json").read_text()
    found = json.loads(text)
    failed = {title for title, value in found.items() if sections.has_failed(value)}
    assert (done.returncode, done.stdout) == (0, f"{tmp_path / 'report.json'}\n")
    assert stat.S_IMODE((tmp_path / "report.json").stat().st_mode) == 0o600
    assert failed == {
        *("database", "redis", "channel_layer", "migrations", "tables", "checks", "queue"),
        *("chores", "failed_jobs", "runs", "breakers", "deployments"),
    }
    assert found["versions"]["quickapps"]
    assert found["migrations"] == {"error": sections.NO_DATABASE}
    assert MARK not in text + done.stdout + done.stderr
    assert took < 200


@pytest.mark.postgres
@pytest.mark.skipif(absence("postgres") != "", reason=absence("postgres"))
def test_a_report_of_postgresql_has_sizes_connections_and_its_clock(tmp_path: Path):
    with database() as name:
        found = json.loads(
            empty_site(tmp_path, DATABASE_URL=address_of(name)).manage(
                "diagnose", "-", "--without-models"
            )
        )

    assert {title: value for title, value in found.items() if sections.has_failed(value)} == {}
    assert abs(found["database"]["clock_ahead_seconds"]) < 5
    assert found["database"]["connections"]["used"] >= 1
    assert found["tables"]["runs_run"]["bytes"] > 0


def test_an_existing_file_is_not_overwritten(tmp_path: Path):
    path = tmp_path / "report.json"
    path.write_text("mine")

    with pytest.raises(CommandError, match="already exists"):
        call_command("diagnose", str(path))

    assert path.read_text() == "mine"


def test_a_section_that_hangs_or_fails_leaves_the_others_alone():
    over = threading.Event()

    def fail() -> None:
        raise OSError("no such disk")

    found = read_sections(
        [
            ReportSection("hangs", over.wait, 0.05),
            ReportSection("fails", fail),
            ReportSection("works", lambda: [1]),
        ]
    )
    over.set()

    del found["seconds"]
    assert found == {
        "hangs": {"error": "No result within 0.05 seconds."},
        "fails": {"error": "OSError: no such disk"},
        "works": [1],
    }


def test_the_difference_of_a_clock_is_told_in_seconds():
    assert abs(clock_difference(lambda: time.time() + 90) - 90) < 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("redis://:p@ss@host:6379/0", "redis://[hidden]@host:6379/0"),
        ("https://a.example.org/x?b=1&c=2#d", "https://a.example.org/x?b=[hidden]&c=[hidden]#d"),
        ('["https://me:x@a", "https://b"]', '["https://[hidden]@a", "https://b"]'),
        ("plain text", "plain text"),
    ],
)
def test_credentials_of_addresses_are_hidden(text: str, shown: str):
    assert variables.hide_passwords(text) == shown


def test_only_classes_of_errors_are_named():
    text = "Traceback (most recent call last):\nValueError: wrong\ns3cret_word\nToken: x\n"

    assert work.error_type(text) == "ValueError"
    assert work.error_type("s3cret_word: x") == ""

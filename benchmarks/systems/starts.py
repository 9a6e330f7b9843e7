"""How each system of a measurement is started. All servers share one core."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import report
from benchmarks.measures import System
from benchmarks.processes import Process, free_port, start
from benchmarks.systems import litellm_proxy, shipped

TOOL = "internal_timeawareness_current_timestamp"
PATH = "/openai/deployments/{}/chat/completions"
PROXY_PATH = "/v1/chat/completions"
PROXY_KEY = "sk-benchmark"
DIAL_PATH = PATH.format("quick_apps2")
DIAL_KEY = "0123456789abcdefghijABCDEFGHIJ-_"
CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE, LOAD_CORE = CORES[0], CORES[-1]
PROXIES = {report.FLOOR, report.LITELLM, report.PASSTHROUGH}
"""Systems that call no tools themselves."""

Start = Callable[[], System]


def tool_of(system: System) -> str:
    return "" if system.name in PROXIES else TOOL


def starts_of(folder: Path, upstream_port: int) -> dict[str, Start]:
    """Return how each system is started, and create the site's database."""
    core = f"http://127.0.0.1:{upstream_port}"
    upstream = f"{core}/v1"
    key = shipped.prepare(shipped.environment(folder, upstream, 1))
    sites = Sites(folder, upstream, key)
    starts: dict[str, Start] = {
        report.PEER: lambda: peer(report.PEER, upstream),
        report.CONTROL: lambda: peer(report.CONTROL, upstream),
        report.FLOOR: lambda: floor(upstream_port),
        report.PASSTHROUGH: lambda: passthrough(upstream),
        report.SITE: lambda: sites.site(report.SITE),
        report.MEASURED: lambda: sites.site(report.MEASURED, metrics="token"),
        report.CAREFUL: lambda: peer_behind_core(report.CAREFUL, core, careful="1"),
        report.DOCUMENTED: lambda: peer_behind_core(report.DOCUMENTED, core, careful=""),
        report.BEHIND: lambda: sites.site(report.BEHIND, core=core),
        report.CONTENT: lambda: sites.site(report.CONTENT, slug=shipped.CONTENT_SLUG),
    }
    if litellm_proxy.PYTHON.exists():
        starts[report.LITELLM] = lambda: litellm(folder, upstream)
    else:
        print("Without `make .venv-litellm/stamp`, LiteLLM's proxy is left out.", file=sys.stderr)
    return starts


def peer(name: str, upstream: str) -> System:
    process = uvicorn("peer", {"BENCH_UPSTREAM": upstream, "BENCH_TOOL": TOOL})
    return System(name, process, PATH.format(shipped.SLUG), "key")


def peer_behind_core(name: str, core: str, careful: str) -> System:
    given = {"BENCH_CORE": core, "BENCH_CAREFUL": careful, "BENCH_TOOL": TOOL}
    process = uvicorn("peer_behind_core", given)
    return System(name, process, PATH.format("bench"), DIAL_KEY, application="kept")


def floor(upstream_port: int) -> System:
    process = run_module(
        "systems.floor", free_port(), "--upstream-port", str(upstream_port), core=SERVER_CORE
    )
    return System(report.FLOOR, process, PROXY_PATH, "")


def passthrough(upstream: str) -> System:
    process = uvicorn("passthrough", {"BENCH_UPSTREAM": upstream, "BENCH_KEY": PROXY_KEY})
    return System(report.PASSTHROUGH, process, PROXY_PATH, PROXY_KEY)


def litellm(folder: Path, upstream: str) -> System:
    port = free_port()
    config = litellm_proxy.write_config(folder, upstream, PROXY_KEY)
    process = start(
        litellm_proxy.arguments(config, port),
        port=port,
        core=SERVER_CORE,
        environment=litellm_proxy.ENVIRONMENT,
        python=str(litellm_proxy.PYTHON),
    )
    return System(report.LITELLM, process, PROXY_PATH, PROXY_KEY)


@dataclass(frozen=True, slots=True)
class Sites:
    """The shipped site in several configurations, which share one database."""

    folder: Path
    upstream: str
    key: str

    def site(self, name: str, *, core: str = "", slug: str = "bench", metrics: str = "") -> System:
        """Start the site. With `core`, the address of DIAL Core, requests arrive as Core sends
        them.
        """
        port = free_port()
        process = start(
            ["-m", "quickapps_site.serve"],
            port=port,
            core=SERVER_CORE,
            environment={
                **shipped.environment(self.folder, self.upstream, port),
                **shipped.behind(core),
                **shipped.previewing(slug),
                "METRICS_TOKEN": metrics,
            },
        )
        if core:
            return System(name, process, DIAL_PATH, DIAL_KEY, application="kept")
        return System(name, process, PATH.format(slug), self.key)


def uvicorn(module: str, environment: dict[str, str]) -> Process:
    port = free_port()
    options = ["--host", "127.0.0.1", "--port", str(port), "--backlog", "4096"]
    quiet = ["--no-access-log", "--log-level", "warning"]
    command = ["-m", "uvicorn", f"benchmarks.systems.{module}:app", *options, *quiet]
    return start(command, port=port, core=SERVER_CORE, environment=environment)


def run_module(module: str, port: int, *options: str, core: int) -> Process:
    command = ["-m", f"benchmarks.{module}", "--port", str(port), *options]
    return start(command, port=port, core=core)

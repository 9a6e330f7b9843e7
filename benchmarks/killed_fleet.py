"""Processes of the site that share a database and are killed and restarted."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.sites.fork_server import ROOT, Fork
from tests.sites.serving import (
    DATABASE,
    PROGRAM,
    Site,
    free_port,
    migrated_database,
    site_environment,
    start,
    wait_until_it_answers,
)

PATIENCE = 240.0
SITE = ("-m", PROGRAM)
Program = subprocess.Popen[bytes] | Fork


class Fleet:
    """A fleet of site processes. `is_up` holds for each slot whether its process accepts requests.
    `program` is what Python runs in a new interpreter. If it is None, the site starts as a fork,
    which is faster."""

    def __init__(
        self,
        folder: Path,
        processes: int,
        settings: Mapping[str, str],
        program: Sequence[str] | None = None,
    ) -> None:
        self.program = program
        self.sites: list[Site] = []
        for place in range(processes):
            port = free_port()
            environment = site_environment(folder, port, **settings)
            log = folder / f"server-{place}.log"
            self.sites.append(Site(f"http://127.0.0.1:{port}", environment, log))
        self.urls = [site.url for site in self.sites]
        self.environment = self.sites[0].environment
        self.processes: dict[int, Program] = {}
        self.is_up = [threading.Event() for _ in self.sites]
        self.started: list[float] = []
        self.starting: list[threading.Thread] = []

    def start(self, place: int) -> None:
        site = self.sites[place]
        process = self.processes[place] = start(site) if self.program is None else self.run(site)
        wait_until_it_answers(site, process)
        self.started.append(time.monotonic())
        self.is_up[place].set()

    def run(self, site: Site) -> subprocess.Popen[bytes]:
        with site.log.open("ab") as output:
            return subprocess.Popen(
                [sys.executable, *(self.program or SITE)],
                cwd=ROOT,
                env=site.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def next_start(self, after: float) -> float:
        """Return the time at which the first process that was started after that time was up."""
        return next((at for at in self.started if at > after), after)

    def start_later(self, place: int) -> None:
        thread = threading.Thread(target=self.start, args=(place,))
        thread.start()
        self.starting.append(thread)

    def wait_for(self, place: int, *, others: bool) -> None:
        """Wait until the process accepts requests and, with `others`, another process as well."""
        self.wait_for_one(place)
        if others:
            self.wait_for_one((place + 1) % len(self.sites))

    def wait_for_one(self, place: int) -> None:
        if not self.is_up[place].wait(PATIENCE):
            raise AssertionError(f"Process {place} did not start.")

    def kill(self, place: int) -> int:
        """Kill a process. Return its id."""
        process = self.processes[place]
        self.is_up[place].clear()
        process.kill()
        process.wait(PATIENCE)
        return process.pid

    def end(self) -> None:
        for thread in self.starting:
            thread.join()
        for process in self.processes.values():
            process.kill()
            process.wait(PATIENCE)


@contextmanager
def prepared_fleet(
    folder: Path, processes: int, settings: Mapping[str, str], program: Sequence[str] | None = None
) -> Iterator[Fleet]:
    """Prepare the processes on a database that has all tables."""
    fleet = Fleet(folder, processes, settings, program)
    if "DATABASE_URL" not in settings:
        shutil.copy(migrated_database(), folder / DATABASE)
    try:
        for place in range(processes):
            fleet.start_later(place)
        for place in range(processes):
            fleet.wait_for_one(place)
        yield fleet
    finally:
        fleet.end()

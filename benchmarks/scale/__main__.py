"""`python -m benchmarks.scale`: a large installation, several processes, or a day in minutes.

    python -m benchmarks.scale pages --scale 0.02   # all pages, with 2 % of the rows
    python -m benchmarks.scale fleet --processes 1 2 4
    python -m benchmarks.scale soak --minutes 12 --plots docs/images/soak

PostgreSQL is that of TEST_DATABASE_URL, on which databases are made and dropped; a Redis is started.
Caddy has to be installed. The exit status is 1 if a page, an answer or a slope misses its goal.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import subprocess
import sys
from pathlib import Path

from quickapps_site.serve import YOUNG_OBJECTS

GOAL_MS, GOAL_QUERIES = 300.0, 30


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    pages = commands.add_parser("pages")
    pages.add_argument("--scale", type=float, default=1.0)
    pages.add_argument("--rounds", type=int, default=20)
    pages.add_argument("--only", nargs="*", default=[""], help="parts of the names of pages")
    pages.add_argument("--smoke", action="store_true", help="judge statuses and queries alone")
    pages.add_argument("--here", action="store_true", help="DATABASE_URL is filled already")
    fleet = commands.add_parser("fleet")
    fleet.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4])
    fleet.add_argument("--runs", type=int, default=40)
    fleet.add_argument("--set", nargs="*", default=[], help="settings, such as DATABASE_THREADS=3")
    soak = commands.add_parser("soak")
    soak.add_argument("--minutes", type=float, default=12.0)
    soak.add_argument("--plots", type=Path)
    given = parser.parse_args()
    if given.command == "pages":
        return measure_pages(given) if given.here else fill_and_measure(given)
    if given.command == "fleet":
        return measure_fleet(given)
    return run_soak(given)


def fill_and_measure(given: argparse.Namespace) -> int:
    """Run in a separate process, whose settings name the new database."""
    from tests.databases.postgresql import address_of, database

    with database() as name:
        environment = {**os.environ, "DATABASE_URL": address_of(name)}
        environment["DJANGO_SETTINGS_MODULE"] = "quickapps_site.settings"
        fill = [sys.executable, "-m", "benchmarks.scale.fill", str(given.scale)]
        subprocess.run(fill, env=environment, check=True)
        again = [sys.executable, "-m", "benchmarks.scale", *sys.argv[1:], "--here"]
        return subprocess.run(again, env=environment, check=False).returncode


def measure_pages(given: argparse.Namespace) -> int:
    import django

    django.setup()
    logging.disable(logging.WARNING)
    from django.db import connection

    from benchmarks.scale.pages import measure, pages, signed_in

    gc.collect()  # as the server does
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)
    with connection.cursor() as cursor:  # otherwise, the CPU time includes that of other processes
        cursor.execute("SET max_parallel_workers_per_gather = 0")
    clients = {user: signed_in(user) for user in {page.user for page in pages()}}
    chosen = [page for page in pages() if any(part in page.name for part in given.only)]
    print(
        "| page | status | CPU ms, p50 | p95 | clock ms, p95 | queries |\n|---|---|---|---|---|---|"
    )
    missed = []
    for page in chosen:
        cost = measure(clients[page.user], page, given.rounds)
        print(
            f"| {page.name} | {cost.status} | {cost.cpu_p50:.0f} | {cost.cpu_p95:.0f} "
            f"| {cost.clock_p95:.0f} | {cost.queries} |",
            flush=True,
        )
        is_slow = cost.cpu_p95 > GOAL_MS and not given.smoke
        if cost.status >= 400 or is_slow or cost.queries > GOAL_QUERIES:
            missed.append(f"{page.name}: {cost.slowest[:500]}")
    print("\n".join(["", *(f"missed: {one}" for one in missed)]))
    return int(bool(missed))


def measure_fleet(given: argparse.Namespace) -> int:
    from benchmarks.scale import fleet

    print(fleet.HEAD, flush=True)
    found = fleet.measure(given.processes, given.runs, dict(one.split("=", 1) for one in given.set))
    errors = [error for one in found for error in one.errors]
    print("\n".join(["", *(f"error: {one}" for one in errors)]))
    return int(bool(errors))


def run_soak(given: argparse.Namespace) -> int:
    from benchmarks.scale import soak

    return soak.run(given.minutes, given.plots)


if __name__ == "__main__":
    sys.exit(main())

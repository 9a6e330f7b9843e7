"""Measure ten thousand schedules that are due at the same time, with two clocks.

    python -m benchmarks.schedules

The benchmark prints when the last message was queued, relative to the due time. The database is
PostgreSQL if TEST_DATABASE_URL is set, otherwise SQLite.
"""

import argparse
import os
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.databases.postgresql import address_of, database
from tests.sites.serving import close_shell, new_site
from tests.triggers.test_storm import READ, strike

KINDS = ["cron", "interval", "at"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--persons", type=int, default=500)
    wanted = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        settings = {}
        if "TEST_DATABASE_URL" in os.environ:
            settings["DATABASE_URL"] = address_of(stack.enter_context(database()))
        site = new_site(folder, **settings)
        stack.callback(close_shell, site)
        due, asked = strike(site, wanted.count, wanted.persons, KINDS)
        found = site.shell(READ)
    print(f"schedules due at once  {wanted.count:>8,} of {wanted.persons:,} people")
    print(f"asked by each clock    {asked[0]['asked']:>8,} and {asked[1]['asked']:,}")
    print(f"CPU of each clock      {asked[0]['cpu']:>8.2f} and {asked[1]['cpu']:.2f} s")
    print(f"runs that stand queued {found['runs']:>8,}, of {found['schedules']:,} schedules")
    print(f"the first after        {found['first'] - due:>8.2f} s")
    print(f"the last after         {found['last'] - due:>8.2f} s")


if __name__ == "__main__":
    main()

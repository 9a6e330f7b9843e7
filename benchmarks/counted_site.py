"""The site, which on SIGUSR1 writes the number of its tasks to the file TASKS_FILE."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from pathlib import Path

from quickapps_site.serve import main


def count_tasks(number: int, frame: object) -> None:
    # `isinstance` would evaluate a lazy object.
    tasks = (one for one in gc.get_objects() if issubclass(type(one), asyncio.Task))
    place = Path(os.environ["TASKS_FILE"])
    written = place.with_suffix(".part")
    written.write_text(str(sum(not one.done() for one in tasks)))
    written.replace(place)


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, count_tasks)
    sys.exit(main(sys.argv[1:]))

"""Many runs of one process that call the model at the same time.

    python -m tests.insights.budgets.storm RUNS AT_ONCE

It prints the numbers of completed and refused calls. With no runs, it makes one reservation, prints
this and waits to be killed.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from uuid import uuid4

import django


async def storm(runs: int, at_once: int) -> dict[str, int]:
    """Let each run call its model until it is refused, at most three times."""
    from apps.agent.events import ModelUsage
    from apps.agent.messages import ModelMessage
    from apps.agent.meter import ModelCallReport
    from apps.agent.model import ModelRequest
    from apps.errors import BudgetSpent
    from apps.insights.budgets.process import ProcessBudgets
    from apps.insights.meter import RunMeter
    from apps.live.database import OwnThread

    budgets, places = ProcessBudgets(OwnThread("budgets")), asyncio.Semaphore(at_once)
    counts, pauses = {"made": 0, "refused": 0}, random.Random(1)
    request = ModelRequest([ModelMessage("user", "x" * 40)])

    def meter() -> RunMeter:
        made = RunMeter(lambda entry: None, "gateway", "user-1", uuid4(), budgets=budgets)
        return made.inside("travel", 1)

    async def run() -> None:
        async with places:
            mine = meter()
            for _ in range(3):
                try:
                    reservation = await mine.admit("gpt", request)
                except BudgetSpent:
                    counts["refused"] += 1
                    return
                counts["made"] += 1
                await asyncio.sleep(pauses.uniform(0.0, 0.02))
                usage = (ModelUsage("gpt", 900, 100),)
                mine.model_called(ModelCallReport("gpt", 0.1, usage, reservation=reservation))

    if not runs:
        await meter().admit("gpt", request)
        tell("reserved")
        await asyncio.Event().wait()
    await asyncio.gather(*(run() for _ in range(runs)))
    await budgets.close()
    return counts


def tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "quickapps_site.settings")
    django.setup()
    tell(json.dumps(asyncio.run(storm(int(sys.argv[1]), int(sys.argv[2])))))

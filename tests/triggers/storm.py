"""Run the clock of one process until nothing is due.

    python -m tests.triggers.storm

It prints "ready", and starts with a line on standard input. Then it prints the number of sent
messages and its CPU seconds.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time

import django


async def storm() -> dict[str, float]:
    from apps.live.hub import Hub
    from apps.schedules.models import Schedule
    from apps.triggers.schedules.clock import fire_due

    hub, asked = Hub(), 0
    await Schedule.objects.acount()
    tell("ready")
    await asyncio.to_thread(sys.stdin.readline)
    began = time.process_time()
    waiting = Schedule.objects.filter(is_paused=False, next_at__isnull=False)
    while await waiting.aexists():
        asked += await fire_due(hub)
        await asyncio.sleep(0.5)
    return {"asked": asked, "cpu": time.process_time() - began}


def tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "quickapps_site.settings")
    django.setup()
    tell(json.dumps(asyncio.run(storm())))

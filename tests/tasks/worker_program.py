"""A process that only runs jobs. An argument names the function at which it is killed."""

from __future__ import annotations

import asyncio
import os
import sys
from importlib import import_module

import django

if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "quickapps_site.settings"
    django.setup()
    from apps.tasks.running import make_worker
    from tests.tasks import jobs

    for path in sys.argv[1:]:
        module, _, name = path.rpartition(".")
        setattr(import_module(module), name, lambda *_, **__: jobs.kill_process.func())
    asyncio.run(make_worker().run())

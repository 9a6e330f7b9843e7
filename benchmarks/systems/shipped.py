"""The shipped site: a database, a deployment, an application and a key for a program.

Run as a program, it fills the database and prints the key.
"""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SLUG = "bench"
CONTENT_SLUG = "content"
SKILL = "house-rules"
ORCHESTRATOR = {"deployment": {"deployment_id": "bench"}}
MANIFESTS = {
    SLUG: {"orchestrator": ORCHESTRATOR, "contexts": [], "tool_sets": []},
    CONTENT_SLUG: {
        "orchestrator": {
            **ORCHESTRATOR,
            "system_prompt": {"type": "predefined", "template": "gpt_prompt"},
        },
        "contexts": [],
        "tool_sets": [
            {
                "type": "predefined",
                "template_name": "weather",
                "overrides": {"description": "Tells the weather of a place."},
            }
        ],
        "hooks": [
            {
                "event": "on_request_start",
                "tool_name": "internal_skills_read_skill",
                "arguments": {"skill_name": SKILL},
            }
        ],
    },
}


def environment(folder: Path, upstream: str, port: int) -> dict[str, str]:
    """Return the settings of a production server, with authentication, and without the caller's own
    settings."""
    return {
        "DATA_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder / 'bench.sqlite3'}",
        "DEBUG": "false",
        "REDIS_URL": "",
        "PORT": str(port),
        "PRIVATE_NETWORK_ALLOWLIST": "127.0.0.1",
        "BENCH_UPSTREAM": upstream,
        "DJANGO_SETTINGS_MODULE": "quickapps_site.settings",
    }


def previewing(slug: str) -> dict[str, str]:
    """Enable preview features, which include hooks."""
    return {"ENABLE_PREVIEW_FEATURES": "true"} if slug == CONTENT_SLUG else {}


def behind(core: str) -> dict[str, str]:
    """Return the settings of a site that this Core calls."""
    return {"DIAL_URL": core}


def prepare(settings: dict[str, str]) -> str:
    """Create the database. Return the key."""
    run(["manage.py", "migrate", "--verbosity", "0"], settings)
    return run(
        ["-m", "benchmarks.systems.shipped"], {**settings, **previewing(CONTENT_SLUG)}
    ).strip()


def run(arguments: list[str], settings: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **settings},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def fill() -> str:
    import django

    django.setup()
    from apps.accounts.models import ApiKey
    from apps.catalog.actions.save_rules import check_row
    from apps.catalog.models import Application, ContentItem
    from apps.catalog.versions.version_recorder import save_live
    from apps.insights.models import Price
    from apps.workspace.local.models import Deployment

    deployment = Deployment.objects.create(
        deployment_id="bench",
        display_name="Bench",
        provider=Deployment.Provider.OPENAI,
        base_url=os.environ["BENCH_UPSTREAM"],
        model_name="fake-model",
        api_key="key",
    )
    # Its calls store rows with costs, as in any installation.
    Price.objects.create(deployment=deployment, valid_from=date(2020, 1, 1), input=2, output=10)
    document = f"---\nname: {SKILL}\ndescription: How guests behave.\n---\nTake off your shoes.\n"
    skill = ContentItem(kind="skill", name=SKILL, text=document)
    skill.full_clean()
    skill.save()
    for slug, manifest in MANIFESTS.items():
        application = Application(slug=slug, title=slug, manifest=manifest, is_shared=True)
        check_row(application)
        save_live(application)
    _, key = ApiKey.objects.create_key(name="bench")
    return str(key)


if __name__ == "__main__":
    print(fill())

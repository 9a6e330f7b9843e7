"""A synthetic installation in an empty PostgreSQL database: users, conversations, and 90 days of
usage.

The distribution is skewed: the first user owns 5.8 % of the conversations, 11,648 of 200,000.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from string import Template

from django.contrib.auth.models import Group, User
from django.db import connection

from apps.accounts.models import Team
from apps.catalog.models import Application
from apps.catalog.versions.version_recorder import save_live
from apps.conversations.search_index import INDEX as MESSAGE_INDEX
from apps.notes.word_index import INDEX as NOTE_INDEX
from apps.workspace.local.models import Deployment

STATEMENTS = Path(__file__).with_name("installation.sql")
MANIFEST = {
    "orchestrator": {"deployment": {"deployment_id": "model-0"}},
    "contexts": [],
    "tool_sets": [],
}


@dataclass(frozen=True, slots=True)
class Size:
    people: int = 5_000
    conversations: int = 200_000
    messages: int = 2_000_000
    applications: int = 200
    teams: int = 100

    @classmethod
    def scaled(cls, share: float) -> Size:
        whole = cls()
        return cls(
            max(int(whole.people * share), 40),
            max(int(whole.conversations * share), 1_200),
            max(int(whole.messages * share), 12_000),
            max(int(whole.applications * share), 20),
            max(int(whole.teams * share), 5),
        )


def install(size: Size) -> float:
    """Fill an empty, migrated database. Return the duration in seconds."""
    began = time.perf_counter()
    User.objects.create_superuser("admin")
    for number in range(10):
        Deployment.objects.create(
            deployment_id=f"model-{number}",
            display_name=f"Model {number}",
            base_url="http://127.0.0.1:9/v1",
            model_name="m",
            api_key="k",
        )
    for number in range(size.teams):
        Team.objects.create(group=Group.objects.create(name=f"Team {number}"))
    for number in range(size.applications):
        slug = f"app-{number}"
        save_live(Application(slug=slug, title=slug, manifest=MANIFEST, is_public=True))
    execute_statements(size)
    return time.perf_counter() - began


def execute_statements(size: Size) -> None:
    words = {"message_words": MESSAGE_INDEX.words(), "note_words": NOTE_INDEX.words()}
    numbers = {
        "people": size.people,
        "conversations": size.conversations,
        "messages": size.messages,
    }
    text = Template(STATEMENTS.read_text()).substitute(numbers, **words)
    with connection.cursor() as cursor:
        for statement in text.split(";\n"):
            if statement.strip():
                cursor.execute(statement)

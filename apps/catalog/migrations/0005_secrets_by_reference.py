"""Plain credentials in applications and predefined items become secrets, which the rows then name."""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.core.management import CommandError
from django.db import migrations
from django.utils import timezone

from apps.catalog.json_text import JSONTextInvalid, parse
from apps.catalog.masking import seal
from apps.catalog.plain_credentials import (
    ELSEWHERE,
    free_name,
    gives_address,
    plain_credentials,
    with_secrets,
)
from apps.manifest.credentials import credential_places
from apps.manifest.json_document import document_problems
from apps.manifest.places import Keys, value_at
from apps.manifest.secrets import HIDDEN
from apps.manifest.validation import review
from apps.workspace.local.secrets import UnreadableSecret

ENCRYPTED = (
    ("workspace", "Secret", "value", "secret"),
    ("workspace", "Deployment", "api_key", "key of the deployment"),
    ("workspace", "McpServer", "environment", "variables of the MCP server"),
)
DOCUMENTS = ("tool", "toolset")


class CannotMove(CommandError):
    """Nothing is changed then: the migration is one transaction."""


@dataclass
class Move:
    """What becomes of one row. `names` are those of the secrets, `left` says what stays and why."""

    kind: str
    pk: Any
    title: str
    document: Any = field(repr=False)
    names: dict[Keys, str] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)


def move_credentials(apps: Any, schema_editor: Any) -> None:
    """Make the secrets, read each back, and name them. A second run finds nothing to do."""
    lines: list[str] = []
    is_checked = False
    for row, column, move in rows_with_credentials(apps):
        found = plain_credentials(move.document, item_name(move.kind, row))
        movable = [credential for credential in found if not credential.problem]
        move.left = [f"{c.path}: {c.problem}" for c in found if c.problem]
        if movable and (reason := why_row_stays(apps, move, row)):
            move.left, movable = [*move.left, *(f"{c.path}: {reason}" for c in movable)], []
        if movable and not is_checked:
            check_keys(apps)
            is_checked = True
        made: dict[tuple[str, tuple[str, ...]], str] = {}
        for credential in movable:
            key = credential.value, credential.servers
            if key not in made:
                made[key] = make_secret(apps, credential, move)
            move.names[credential.keys] = made[key]
            servers = ", ".join(credential.servers)
            lines.append(
                f"{move.title}: {credential.path} is the secret {made[key]!r}, for {servers}."
            )
        lines += [f"{move.title}: {line}. It stays in the row, hidden." for line in move.left]
        if move.names:
            name_in_history(apps, move)
            document = with_secrets(move.document, move.names)
            type(row)._default_manager.filter(pk=row.pk).update(**{column: written(row, document)})
    if lines:
        sys.stdout.write("\n  Plain credentials:\n" + "".join(f"    {line}\n" for line in lines))


def rows_with_credentials(apps: Any) -> Iterator[tuple[Any, str, Move]]:
    """Rows, locked, whose documents have plain credentials, with the column of the document."""
    sources = (
        ("catalog.application", "manifest", {}),
        ("catalog.contentitem", "text", {"kind__in": DOCUMENTS}),
    )
    for kind, column, wanted in sources:
        rows = apps.get_model(kind)._default_manager.filter(**wanted)
        for pk in list(rows.order_by("pk").values_list("pk", flat=True)):
            row = rows.select_for_update().filter(pk=pk).first()
            document = None if row is None else getattr(row, column)
            if column == "text" and document is not None:
                document = readable(document)
            if any(place.kind == "plain" for place in credential_places(document)):
                title = f"{kind.partition('.')[2]} {getattr(row, 'slug', '') or row.name}"
                yield row, column, Move(kind, pk, title, document)


def item_name(kind: str, row: Any) -> str:
    return row.name if kind == "catalog.contentitem" else ""


def written(row: Any, document: Any) -> Any:
    if hasattr(row, "manifest"):
        return document
    return json.dumps(document, indent=2, ensure_ascii=False)


def readable(text: str) -> Any:
    try:
        return parse(text)
    except JSONTextInvalid:
        return None


def why_row_stays(apps: Any, move: Move, row: Any) -> str:
    """Why nothing of a row can be moved, "" if it can."""
    if move.kind == "catalog.contentitem":
        if document_problems(move.document):
            return "the item has mistakes"
        documents = [
            *apps.get_model("catalog", "Application").objects.values_list("manifest", flat=True),
            *map(
                readable,
                apps.get_model("catalog", "ContentItem")
                .objects.filter(kind__in=DOCUMENTS)
                .values_list("text", flat=True),
            ),
        ]
        if any(gives_address(document, row.name) for document in documents):
            return ELSEWHERE
        return ""
    found = review(
        move.document,
        preview=settings.ENABLE_PREVIEW_FEATURES,
        default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
    )
    return "the manifest has mistakes" if found.errors else ""


def check_keys(apps: Any) -> None:
    """Raises `CannotMove` where something is stored that no key of this installation fits."""
    unreadable = [
        f"the {what} {row}"
        for app, model, column, what in ENCRYPTED
        for row, value in apps.get_model(app, model)._default_manager.values_list(
            NAMES[model], column
        )
        if isinstance(value, UnreadableSecret)
    ]
    if unreadable:
        raise CannotMove(
            f"SECRET_KEY and SALT_KEY do not fit what is stored: {', '.join(unreadable)} cannot be "
            "decrypted. Nothing was changed. Set the SECRET_KEY that this database was used with "
            "(or add it to SECRET_KEY_FALLBACKS), and migrate again."
        )


NAMES = {"Secret": "name", "Deployment": "deployment_id", "McpServer": "name"}


def make_secret(apps: Any, credential: Any, move: Move) -> str:
    """Gives its name. Raises `CannotMove` if it cannot be read back."""
    model = apps.get_model("workspace", "Secret")
    taken = model._default_manager.filter(name__startswith=credential.stem)
    name = free_name(credential.stem, set(taken.values_list("name", flat=True)))
    servers = list(credential.servers)
    secret = model(name=name, value=credential.value, servers=servers, version=1)
    secret.save()
    stored = model._default_manager.values_list("value", flat=True).get(pk=secret.pk)
    if stored != credential.value:
        raise CannotMove(f"The secret {name!r} cannot be read back. Nothing was changed.")
    state = {
        "name": name,
        "value": {HIDDEN: seal(credential.value, settings.SECRET_KEY)},
        "description": "",
        "servers": servers,
        "is_for_any_server": False,
    }
    places = ["name", "value", "servers"]
    apps.get_model("catalog", "Change")(
        kind="workspace.secret",
        object_id=secret.pk,
        title=name,
        version=1,
        what="created",
        via="server",
        reason=f"Moved out of {move.title}."[:300],
        at=timezone.now(),
        after=state,
        count=len(places),
        places=places,
    ).save()
    return name


# --- What is recorded of the row ----------------------------------------------------------------


def name_in_history(apps: Any, move: Move) -> None:
    """Marks that stand for what was moved become the name of its secret."""
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    names = {
        seal(value_at(move.document, place), key): name
        for place, name in move.names.items()
        for key in keys
    }
    changes = apps.get_model("catalog", "Change")._default_manager
    recorded = changes.filter(kind=move.kind, object_id=move.pk)
    for pk in list(recorded.values_list("pk", flat=True)):
        before, after = recorded.values_list("before", "after").get(pk=pk)
        named = {"before": renamed(before, names), "after": renamed(after, names)}
        if changed := {side: state for side, state in named.items() if state is not None}:
            changes.filter(pk=pk).update(**changed)


def renamed(state: Any, names: Mapping[str, str]) -> Any:
    """A state with names in the place of marks, None if that changes nothing."""
    for column in ("manifest", "text"):
        document = (state or {}).get(column)
        is_text = column == "text" and isinstance(document, str)
        document = readable(document) if is_text else document
        found = {
            place.keys: names[mark]
            for place in credential_places(document)
            if place.kind == "hidden" and (mark := value_at(document, place.keys)[HIDDEN]) in names
        }
        if found:
            document = with_secrets(document, found)
            text = json.dumps(document, indent=2, ensure_ascii=False) if is_text else document
            return {**state, column: text}
    return None


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0004_change"),
        ("workspace", "0005_secret"),
    ]

    operations = [migrations.RunPython(move_credentials, migrations.RunPython.noop)]

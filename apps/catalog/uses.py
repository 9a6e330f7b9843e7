"""Finds the applications and predefined items that use a secret, a deployment or a predefined item."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeGuard

from django.conf import settings

from apps.capabilities.memory.capability import RULES as MEMORY_RULES
from apps.catalog.content.items import ItemKind, LayerItem
from apps.catalog.content.layers import Content
from apps.catalog.models import Application
from apps.catalog.review.manifests import deployment_names
from apps.manifest.credentials import find_credentials
from apps.manifest.json_text import objects_in
from apps.manifest.markdown.agent_definition import AgentDefinition, AgentInvalid, read_agent
from apps.manifest.validation.validation import with_deployment


@dataclass(frozen=True, slots=True)
class ItemUser:
    """An application or predefined item that uses a secret, a deployment or another item."""

    kind: str
    name: str
    path: str
    """The path of the reference in the manifest or in the item's JSON."""
    pk: int | None = None
    """The ID of an application, or None for a predefined item."""


def secret_uses(content: Content) -> dict[str, list[ItemUser]]:
    """Map the name of each secret to the applications and predefined items that use it. Runs one
    query.
    """
    return users_by_name(content, secrets_in)


def deployment_uses(content: Content) -> dict[str, list[ItemUser]]:
    """Map the ID of each deployment to the applications and predefined items that use it as a model
    or a tool. Runs one query.
    """
    found = users_by_name(content, deployments_in)
    for item in content.items["agent"].values():
        agent = agent_of(item)
        if agent is not None and agent.deployment_id:
            found.setdefault(agent.deployment_id, []).append(ItemUser("agent", item.name, "model"))
    return found


def users_by_name(
    content: Content, names_in: Callable[[Any], Iterable[tuple[str, str]]]
) -> dict[str, list[ItemUser]]:
    """Map each name to the applications and predefined items that use it. `names_in` yields the
    name and path of each use in a document.
    """
    found: dict[str, list[ItemUser]] = {}
    rows = Application.objects.order_by("title").values_list("pk", "title", "manifest")
    for pk, title, manifest in rows.iterator():
        for name, path in names_in(manifest):
            found.setdefault(name, []).append(ItemUser("application", title, path, pk))
    for item in documents(content):
        for name, path in names_in(item.value):
            found.setdefault(name, []).append(ItemUser(item.kind, item.name, path))
    return found


def documents(content: Content) -> Iterable[LayerItem]:
    """Return the predefined tools and toolsets in use, which may contain credentials and
    deployments.
    """
    return (*content.items["toolset"].values(), *content.items["tool"].values())


def secrets_in(document: Any) -> Iterator[tuple[str, str]]:
    for place in find_credentials(document, "reference"):
        yield place.secret, place.path


def deployments_in(document: Any) -> Iterator[tuple[str, str]]:
    """Yield the name and path of each deployment in a document. A manifest without a deployment
    uses the default deployment.
    """
    if isinstance(document, dict):
        document = with_deployment(document, settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID)
    for path, name in deployment_names(document):
        yield name, path


class ItemReference(NamedTuple):
    kind: ItemKind
    name: str


class ReferringApplication(NamedTuple):
    pk: int
    title: str
    manifest: Any


@dataclass(frozen=True, slots=True)
class Uses:
    """The applications and predefined items that directly use one predefined item."""

    applications: tuple[ReferringApplication, ...]
    items: tuple[ItemReference, ...]

    @property
    def count(self) -> int:
        return len(self.applications) + len(self.items)


NOBODY = Uses((), ())


def uses_of(
    content: Content, applications: Iterable[ReferringApplication]
) -> dict[ItemReference, Uses]:
    """Return the direct uses of each predefined item. Unused items are omitted."""
    found: dict[ItemReference, tuple[list[ReferringApplication], list[ItemReference]]] = {}
    for application in applications:
        for reference in set(references_in(application.manifest, content)):
            found.setdefault(reference, ([], []))[0].append(application)
    for kind, items in content.items.items():
        for name, item in items.items():
            for reference in set(references_of(item, content)):
                found.setdefault(reference, ([], []))[1].append(ItemReference(kind, name))
    return {key: Uses(tuple(a), tuple(sorted(i))) for key, (a, i) in found.items()}


def references_of(item: LayerItem, content: Content) -> Iterator[ItemReference]:
    """Yield the predefined items to which an item refers, including an agent's toolsets."""
    if item.kind != "agent":
        yield from references_in(item.value, content)
    elif (agent := agent_of(item)) is not None:
        yield from (ItemReference("toolset", name) for name in agent.brings)


def agent_of(item: LayerItem) -> AgentDefinition | None:
    try:
        return read_agent(item.name, item.text)
    except AgentInvalid:
        return None


def references_in(document: Any, content: Content) -> Iterator[ItemReference]:
    """Yield the predefined items to which a document refers, including references in patches and to
    items that do not exist.
    """
    yield from feature_references(document, content)
    for _, found in objects_in(document):
        kind = found.get("type")
        if isinstance(name := found.get("template_name"), str):
            yield ItemReference("toolset" if kind == "predefined" else "tool", name)
        elif kind == "predefined" and isinstance(name := found.get("template"), str):
            yield ItemReference("prompt", name)


def feature_references(document: Any, content: Content) -> Iterator[ItemReference]:
    """Yield the predefined items that a manifest's features use, such as agents for `spawn_agent`."""
    features = document.get("features") if isinstance(document, dict) else None
    if not isinstance(features, dict):
        return
    if is_enabled(features.get("memory")):
        yield ItemReference("prompt", MEMORY_RULES)
    spawned = features.get("spawn_agent")
    if is_enabled(spawned):
        named = spawned.get("agents")
        names = content.items["agent"] if named is None else named
        if isinstance(names, Iterable):
            yield from (ItemReference("agent", name) for name in names if isinstance(name, str))


def is_enabled(feature: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(feature, dict) and bool(feature.get("enabled"))

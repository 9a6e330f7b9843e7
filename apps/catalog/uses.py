"""The users of secrets, deployments and predefined items: applications and predefined items."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeGuard

from django.conf import settings

from apps.capabilities.memory.capability import RULES as MEMORY_RULES
from apps.catalog.content.items import Item, ItemKind
from apps.catalog.content.layers import Content
from apps.catalog.json_text import objects_in
from apps.catalog.models import Application
from apps.catalog.review import deployment_names
from apps.manifest.agent_definition import AgentDefinition, AgentInvalid, read_agent
from apps.manifest.credentials import credential_places
from apps.manifest.validation import with_deployment


@dataclass(frozen=True, slots=True)
class User:
    """An application (with its `pk`) or a predefined item; `place` is the path in its document."""

    kind: str
    name: str
    place: str
    pk: int | None = None


def secret_uses(content: Content) -> dict[str, list[User]]:
    """The users of each secret, by its name. One query."""
    return users_by_name(content, secrets_in)


def deployment_uses(content: Content) -> dict[str, list[User]]:
    """The users of each deployment, by its id, whether as a model or as a tool. One query."""
    found = users_by_name(content, deployments_in)
    for item in content.items["agent"].values():
        agent = agent_of(item)
        if agent is not None and agent.deployment_id:
            found.setdefault(agent.deployment_id, []).append(User("agent", item.name, "model"))
    return found


def users_by_name(
    content: Content, names_in: Callable[[Any], Iterable[tuple[str, str]]]
) -> dict[str, list[User]]:
    """`names_in` gives the names in a document, each with its path."""
    found: dict[str, list[User]] = {}
    rows = Application.objects.order_by("title").values_list("pk", "title", "manifest")
    for pk, title, manifest in rows.iterator():
        for name, place in names_in(manifest):
            found.setdefault(name, []).append(User("application", title, place, pk))
    for item in documents(content):
        for name, place in names_in(item.value):
            found.setdefault(name, []).append(User(item.kind, item.name, place))
    return found


def documents(content: Content) -> Iterable[Item]:
    """The items in force that can hold credentials."""
    return (*content.items["toolset"].values(), *content.items["tool"].values())


def secrets_in(document: Any) -> Iterator[tuple[str, str]]:
    for place in credential_places(document, "reference"):
        yield place.secret, place.path


def deployments_in(document: Any) -> Iterator[tuple[str, str]]:
    """A manifest without a model uses the default one."""
    if isinstance(document, dict):
        document = with_deployment(document, settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID)
    for place, name in deployment_names(document):
        yield name, place


class Reference(NamedTuple):
    """The predefined item that a document refers to."""

    kind: ItemKind
    name: str


class ReferringApplication(NamedTuple):
    pk: int
    title: str
    manifest: Any


@dataclass(frozen=True, slots=True)
class Uses:
    """The direct users of one predefined item."""

    applications: tuple[ReferringApplication, ...]
    items: tuple[Reference, ...]

    @property
    def count(self) -> int:
        return len(self.applications) + len(self.items)


NOBODY = Uses((), ())


def uses_of(
    content: Content, applications: Iterable[ReferringApplication]
) -> dict[Reference, Uses]:
    """The direct users of every predefined item that has any; items are sorted."""
    found: dict[Reference, tuple[list[ReferringApplication], list[Reference]]] = {}
    for application in applications:
        for reference in set(references_in(application.manifest, content)):
            found.setdefault(reference, ([], []))[0].append(application)
    for kind, items in content.items.items():
        for name, item in items.items():
            for reference in set(references_of(item, content)):
                found.setdefault(reference, ([], []))[1].append(Reference(kind, name))
    return {key: Uses(tuple(a), tuple(sorted(i))) for key, (a, i) in found.items()}


def references_of(item: Item, content: Content) -> Iterator[Reference]:
    """The references of an item; the toolsets that an agent brings are among them."""
    if item.kind != "agent":
        yield from references_in(item.value, content)
    elif (agent := agent_of(item)) is not None:
        yield from (Reference("toolset", name) for name in agent.brings)


def agent_of(item: Item) -> AgentDefinition | None:
    try:
        return read_agent(item.name, item.text)
    except AgentInvalid:
        return None


def references_in(document: Any, content: Content) -> Iterator[Reference]:
    """Every reference in a document, whether it is valid or not, patches included."""
    yield from feature_references(document, content)
    for _, found in objects_in(document):
        kind = found.get("type")
        if isinstance(name := found.get("template_name"), str):
            yield Reference("toolset" if kind == "predefined" else "tool", name)
        elif kind == "predefined" and isinstance(name := found.get("template"), str):
            yield Reference("prompt", name)


def feature_references(document: Any, content: Content) -> Iterator[Reference]:
    """The items that features use without naming them by a template."""
    features = document.get("features") if isinstance(document, dict) else None
    if not isinstance(features, dict):
        return
    if is_enabled(features.get("memory")):
        yield Reference("prompt", MEMORY_RULES)
    spawned = features.get("spawn_agent")
    if is_enabled(spawned):
        named = spawned.get("agents")
        names = content.items["agent"] if named is None else named
        if isinstance(names, Iterable):
            yield from (Reference("agent", name) for name in names if isinstance(name, str))


def is_enabled(feature: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(feature, dict) and bool(feature.get("enabled"))

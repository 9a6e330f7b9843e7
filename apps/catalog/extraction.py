"""Moves the plain credentials in a document into secrets when the document is saved."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import IntegrityError, transaction

from apps.catalog.content.installed import installed_content
from apps.catalog.credentials.plain import (
    ELSEWHERE,
    PlainCredential,
    free_secret_name,
    overrides_url,
    plain_credentials,
    with_secrets,
)
from apps.catalog.credentials.url_credentials import without_url_credentials
from apps.catalog.models import Application
from apps.catalog.uses import documents
from apps.manifest.credentials import find_credentials
from apps.manifest.json_places import Keys, replace_values
from apps.manifest.problems import Problem
from apps.workspace.local.models import Secret
from apps.workspace.local.secrets.stored_secrets import find_all, server_problem

ADD = "workspace.add_secret"
FORBIDDEN = (
    "is a plain credential, which is stored as a secret, and your account may not add secrets. Ask "
    'for the permission to add secrets, or use an existing one: {"$secret": "name"}.'
)
MOST_ATTEMPTS = 100


@dataclass(frozen=True, slots=True)
class Extraction:
    """A document in which references to secrets replace the plain credentials. `made` lists the new
    secrets.
    """

    document: Any = field(repr=False)
    made: tuple[Secret, ...] = ()


def forbidden_credentials(document: Any, user: Any, *, item: str = "") -> list[Problem]:
    """Return an error for each plain credential that would become a secret, unless the user may add
    secrets.
    """
    found = movable(without_url_credentials(document), item)
    if not found or (user is not None and user.has_perm(ADD)):
        return []
    return [Problem(credential.path, FORBIDDEN) for credential in found]


def extract(
    document: Any, stored: Iterable[Any] = (), *, user: Any = None, item: str = ""
) -> Extraction:
    """Replace each plain credential in a document with a reference to a secret. The secret allows
    exactly the servers that receive the credential.

    Equal credentials for the same servers share a secret. A matching secret in the `stored`
    documents is reused. Credentials are first moved out of URLs. `item` is the name of a predefined
    item, or "" for a manifest. Call this in the transaction that saves the document.
    """
    document = without_url_credentials(document)
    known = named_secrets(stored)
    made: list[Secret] = []
    names: dict[Keys, str] = {}
    # Sorted, so that concurrent transactions lock names in the same order.
    for credential in sorted(movable(document, item), key=lambda found: found.stem):
        fitting = [secret for secret in known if secret.value == credential.value]
        secret = next((s for s in fitting if not server_problem(s, credential.servers)), None)
        secret = secret or next((s for s in made if is_of(s, credential)), None)
        if secret is None:
            secret = make_secret(credential, user)
            made.append(secret)
        names[credential.keys] = secret.name
    return Extraction(with_secrets(document, names), tuple(made))


def reveal_secrets(document: Any) -> Any:
    """Replace the references to secrets in the document with their values. Never show or store the
    result.
    """
    known = {secret.name: secret.value for secret in named_secrets([document])}
    places = [place for place in find_credentials(document) if known.get(place.secret)]
    return replace_values(document, {place.keys: known[place.secret] for place in places})


def movable(document: Any, item: str = "") -> list[PlainCredential]:
    return [c for c in found_credentials(document, item) if not c.problem]


def found_credentials(document: Any, item: str = "") -> list[PlainCredential]:
    """Return all plain credentials in a document. Credentials that cannot become secrets have a
    `problem`.
    """
    found = plain_credentials(document, item)
    if item and found and is_sent_elsewhere(item):
        return [replace(c, problem=c.problem or ELSEWHERE) for c in found]
    return found


def is_sent_elsewhere(item: str) -> bool:
    """Return True if a reference to the predefined item overrides its URL, which sends its
    credentials to another server.
    """
    rows = Application.objects.values_list("manifest", flat=True)
    items = (found.value for found in documents(installed_content()))
    return any(overrides_url(document, item) for each in (rows, items) for document in each)


def named_secrets(stored: Iterable[Any]) -> list[Secret]:
    names = {place.secret for doc in stored for place in find_credentials(doc, "reference")}
    return sorted(find_all(names).values(), key=lambda secret: secret.name)


def is_of(secret: Secret, credential: PlainCredential) -> bool:
    return bool(secret.value == credential.value) and secret.servers == list(credential.servers)


def make_secret(credential: PlainCredential, user: Any) -> Secret:
    """Create a secret for the credential. Raises `ValidationError` if it is invalid, and
    `IntegrityError` if no name is available.
    """
    for _ in range(MOST_ATTEMPTS):
        taken = Secret.objects.filter(name__startswith=credential.stem)
        secret = Secret(
            name=free_secret_name(credential.stem, set(taken.values_list("name", flat=True))),
            value=credential.value,
            servers=list(credential.servers),
            created_by=user,
            changed_by=user,
        )
        secret.full_clean(validate_unique=False)
        try:
            with transaction.atomic():
                secret.save()
        except IntegrityError:
            continue  # Another transaction has used the name in the meantime.
        return secret
    raise IntegrityError(
        f"All names for the secret {credential.stem!r} are taken. Add the secret under another name."
    )

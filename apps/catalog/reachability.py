"""Warnings for what a manifest names outside of itself: MCP servers, shared files, addresses.

Nothing is asked for it, so what is fine here may fail all the same; and what is missing may be added
later, so these never keep a manifest from being saved.
"""

import ipaddress
import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.conf import settings

from apps.catalog.json_text import objects_in
from apps.errors import EgressRefused
from apps.manifest.problems import Problem, join
from apps.manifest.secrets import reads_as_credential
from apps.manifest.servers import ADDRESSES
from apps.workspace.egress.addresses import reach
from apps.workspace.egress.guard import Trust, check_not_metadata, check_reach
from apps.workspace.loading.places import place_of
from apps.workspace.local.mcp_servers import built_in, named_by_setting
from apps.workspace.local.models import PUBLIC, McpServer, SharedFile

SHARED = f"files/{PUBLIC}/"
SCHEMES = ("http://", "https://")
IN_QUERY = (
    "the query of an address is written into logs by many servers; keep the credential {} as a "
    "secret in `authorization`."
)


def reachability_warnings(manifest: Any) -> Iterator[Problem]:
    yield from unknown_servers(manifest)
    yield from missing_files(manifest)
    yield from unknown_skills(manifest)
    yield from doubtful_addresses(manifest)


def unknown_servers(manifest: Any) -> Iterator[Problem]:
    """A warning for each registered MCP server that there is not, or that is disabled."""
    named = [
        (join(path, "server"), item["server"])
        for path, item in objects_in(manifest)
        if item.get("protocol") == "stdio" and isinstance(item.get("server"), str)
    ]
    if not named:
        return
    rows = dict(McpServer.objects.values_list("name", "is_enabled"))
    for path, name in named:
        is_known = rows.get(name, bool(built_in(name) or named_by_setting(name)))
        if name and not is_known:
            near = get_close_matches(name, [one for one, on in rows.items() if on], n=3, cutoff=0.5)
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
            text = f"there is no MCP server named {name[:100]!r}, or it is not enabled{hint}"
            yield Problem(path, text)


def missing_files(manifest: Any) -> Iterator[Problem]:
    """A warning for each context that names a shared file that there is not."""
    contexts = manifest.get("contexts") if isinstance(manifest, dict) else None
    named = []
    for number, item in enumerate(contexts if isinstance(contexts, list) else ()):
        if not isinstance(item, dict) or not isinstance(item.get("url"), str):
            continue
        place = place_of(item["url"])
        if place.kind == "stored" and place.address.startswith(SHARED):
            name = unquote(place.address.removeprefix(SHARED))
            named.append((join(join("contexts", number), "url"), name, item.get("type")))
    if not named:
        return
    known = list(SharedFile.objects.values_list("name", flat=True))
    for path, name, kind in named:
        if kind == "file" and name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f"; did you mean {SHARED + near[0]!r}?" if near else "."
            yield Problem(path, f"there is no shared file {name!r}{hint}")
        elif kind == "folder" and not any(one.startswith(name) for one in known):
            yield Problem(path, f"there is no shared file in the folder {name!r}.")


FOLDERS = {"dial-prompt": "prompts/", "dial-skill": "skills/"}


def unknown_skills(manifest: Any) -> Iterator[Problem]:
    """A warning for each skill of DIAL that no DIAL Core can have, or for which there is none."""
    written = manifest.get("skills") if isinstance(manifest, dict) else None
    for number, item in enumerate(written if isinstance(written, list) else ()):
        if not isinstance(item, dict) or not isinstance(item.get("url"), str):
            continue
        folder = FOLDERS.get(str(item.get("type")), "")
        if not item["url"].startswith(folder):
            text = f"there is no skill at this path; write {folder}<bucket>/<path>."
        elif not settings.DIAL_URL:
            text = (
                "skills of DIAL are read from a DIAL Core, and this installation has none; write the "
                "skill into the application instead."
            )
        else:
            continue
        yield Problem(join(join("skills", number), "url"), text)


BELOW_BASE = "method_url"
_bare_host = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+(:[0-9]+)?(/.*)?", re.DOTALL)


def doubtful_addresses(manifest: Any) -> Iterator[Problem]:
    """A warning for each address that is refused without asking anybody, or tells a credential."""
    for path, item in objects_in(manifest):
        for name, url in item.items():
            is_below = name == BELOW_BASE  # a path and a query, without a host
            is_address = name in ADDRESSES and isinstance(url, str)
            if name == "base_url" and isinstance(url, str) and _bare_host.fullmatch(url):
                yield Problem(
                    join(path, name), f"is no address; did you mean 'https://{url[:200]}'?"
                )
            if is_address and (is_below or url.startswith(SCHEMES)):
                yield from (Problem(join(path, name), text) for text in doubts(url))


def doubts(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
        host, names = parts.hostname or "", [one for one, _ in parse_qsl(parts.query)]
    except ValueError:
        return  # an error of its own
    if refused := refusal(host):
        yield refused
    if "@" in parts.netloc:
        yield "write user name and password as `authorization`, not into the address."
    for name in names:
        if reads_as_credential(name):
            yield IN_QUERY.format(repr(name))


def refusal(host: str) -> str:
    """Why a request would be refused; "" if it would not, or if that takes a name service."""
    address = "127.0.0.1" if host == "localhost" else host
    try:
        check_not_metadata(host)
        ipaddress.ip_address(address)
        check_reach(Trust.OPERATOR, host, reach(address))
    except EgressRefused as error:
        return str(error)
    except ValueError:
        return ""
    return ""

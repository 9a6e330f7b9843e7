"""Warns about MCP servers, shared files and URLs in a manifest that a run cannot reach.

The review sends no requests, so a run can still fail. Warnings never prevent saving, because
operators may add missing servers and files later.
"""

import ipaddress
import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.conf import settings
from django.db.models import Q

from apps.errors import EgressRefused
from apps.manifest.json_text import objects_in
from apps.manifest.problems import Problem, join_path
from apps.manifest.secrets import reads_as_credential
from apps.manifest.servers import ADDRESSES
from apps.workspace.egress.guard import Trust, check_not_metadata, check_reach
from apps.workspace.egress.ip_addresses import reach
from apps.workspace.loading.file_locations import locate_file
from apps.workspace.local.files.readers import APPLICATIONS, unrestricted_files
from apps.workspace.local.models import PUBLIC, McpServer, SharedFile
from apps.workspace.local.tools.mcp_servers import built_in

SHARED = f"files/{PUBLIC}/"
SCHEMES = ("http://", "https://")
IN_QUERY = (
    "many servers log the query of a URL; store the credential {} as a secret in `authorization`."
)


def reachability_warnings(manifest: Any) -> Iterator[Problem]:
    yield from unknown_servers(manifest)
    yield from missing_files(manifest)
    yield from unknown_skills(manifest)
    yield from doubtful_urls(manifest)


def unknown_servers(manifest: Any) -> Iterator[Problem]:
    """Yield a warning for each registered MCP server that does not exist or is disabled."""
    named = [
        (join_path(path, "server"), item["server"])
        for path, item in objects_in(manifest)
        if item.get("protocol") == "stdio" and isinstance(item.get("server"), str)
    ]
    if not named:
        return
    rows = dict(McpServer.objects.values_list("name", "is_enabled"))
    for path, name in named:
        is_known = rows.get(name, built_in(name) is not None)
        if name and not is_known:
            near = get_close_matches(name, [one for one, on in rows.items() if on], n=3, cutoff=0.5)
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
            text = f"there is no MCP server named {name[:100]!r}, or it is not enabled{hint}"
            yield Problem(path, text)


def missing_files(manifest: Any) -> Iterator[Problem]:
    """Yield a warning for each shared file or folder in the manifest's contexts that does not
    exist.

    Other applications' files are skipped, because a warning would reveal whether they exist.
    """
    named = [one for one in named_files(manifest) if not one[1].startswith(APPLICATIONS)]
    if not named:
        return
    rows = unrestricted_files(SharedFile.objects.all(), Q(pk__in=()))
    known = list(rows.values_list("name", flat=True))
    for path, name, kind in named:
        if kind == "file" and name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f"; did you mean {SHARED + near[0]!r}?" if near else "."
            yield Problem(path, f"there is no shared file {name!r}{hint}")
        elif kind == "folder" and not any(one.startswith(name) for one in known):
            yield Problem(path, f"there is no shared file in the folder {name!r}.")


def named_files(manifest: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield the path, file name and type of each context that is a shared file or folder."""
    contexts = manifest.get("contexts") if isinstance(manifest, dict) else None
    for number, item in enumerate(contexts if isinstance(contexts, list) else ()):
        if not isinstance(item, dict) or not isinstance(item.get("url"), str):
            continue
        place = locate_file(item["url"])
        if place.kind == "stored" and place.address.startswith(SHARED):
            name = unquote(place.address.removeprefix(SHARED))
            yield join_path(join_path("contexts", number), "url"), name, item.get("type")


FOLDERS = {"dial-prompt": "prompts/", "dial-skill": "skills/"}


def unknown_skills(manifest: Any) -> Iterator[Problem]:
    """Yield a warning for each DIAL skill with an invalid path, or for every DIAL skill if the
    installation has no DIAL Core.
    """
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
        yield Problem(join_path(join_path("skills", number), "url"), text)


BELOW_BASE = "method_url"
_bare_host = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+(:[0-9]+)?(/.*)?", re.DOTALL)


def doubtful_urls(manifest: Any) -> Iterator[Problem]:
    """Yield a warning for each URL whose host is blocked, that has no scheme, or that contains a
    credential.
    """
    for path, item in objects_in(manifest):
        for name, url in item.items():
            is_below = name == BELOW_BASE  # The URL is only a path and a query, without a host.
            is_address = name in ADDRESSES and isinstance(url, str)
            if name == "base_url" and isinstance(url, str) and _bare_host.fullmatch(url):
                yield Problem(
                    join_path(path, name), f"is not a URL; did you mean 'https://{url[:200]}'?"
                )
            if is_address and (is_below or url.startswith(SCHEMES)):
                yield from (Problem(join_path(path, name), text) for text in doubts(url))


def doubts(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
        host, names = parts.hostname or "", [one for one, _ in parse_qsl(parts.query)]
    except ValueError:
        return  # Another check reports this as an error.
    if refused := refusal(host):
        yield refused
    if "@" in parts.netloc:
        yield "use `authorization` for the username and password, not the URL."
    for name in names:
        if reads_as_credential(name):
            yield IN_QUERY.format(repr(name))


def refusal(host: str) -> str:
    """Return why the egress guard blocks requests to a host, or "". Does not resolve host names."""
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

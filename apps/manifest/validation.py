"""From a document to a manifest, or to the list of its problems."""

from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from apps.manifest.client_tools import OF_THE_SERVER, PLATFORM_NAMES, RESERVED, ClientToolSet
from apps.manifest.credentials import credential_places
from apps.manifest.json_document import document_problems
from apps.manifest.manifest import Manifest
from apps.manifest.names import sanitize, visible_name
from apps.manifest.nodes import CHECKED
from apps.manifest.preview import without_preview
from apps.manifest.problems import DocumentInvalid, Problem, cut
from apps.manifest.secrets import FOREIGN, FOREIGN_REFERENCE
from apps.manifest.tools import PredefinedTool, SimpleDeploymentTool
from apps.manifest.toolsets import InternalToolSet, RestToolSet, WrittenToolSet
from apps.manifest.validation_errors import failure_problems
from apps.manifest.warnings import warning_problems


class ManifestInvalid(DocumentInvalid): ...


@dataclass(frozen=True, slots=True)
class Review:
    errors: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def read(
    document: object,
    *,
    preview: bool = True,
    default_deployment: str = "",
    is_foreign: bool = False,
    is_checked: bool = False,
) -> Manifest:
    """Validate a document. Raises `ManifestInvalid` with all of its problems.

    `default_deployment`: the orchestrator's, if the document names none.
    `preview`: False sets the fields of preview features to null and leaves out their models.
    `is_foreign`: the document is kept elsewhere, so it may not name secrets of this installation.
    `is_checked`: report also mistakes for which a run only leaves out a part.
    """
    if problems := document_problems(document):
        raise ManifestInvalid(cut(problems))
    assert isinstance(document, dict)  # noqa: S101 document_problems refuses everything else
    try:
        filled = with_deployment(document, default_deployment)
        manifest = Manifest.model_validate(
            filled, context={FOREIGN: is_foreign, CHECKED: is_checked}
        )
    except ValidationError as error:
        problems = failure_problems(error, document, Manifest)
        raise ManifestInvalid(cut(problems)) from None
    if problems := name_problems(manifest) + (patch_problems(document) if is_foreign else []):
        raise ManifestInvalid(cut(problems))
    return manifest if preview else without_preview(manifest)


def patch_problems(document: dict[str, Any]) -> list[Problem]:
    """Names of secrets in patches, which are validated only when they are applied."""
    return [
        Problem(place.path, FOREIGN_REFERENCE)
        for place in credential_places(document, "reference")
        if "override" in place.keys
    ]


def review(
    document: object, *, preview: bool, default_deployment: str = "", is_foreign: bool = False
) -> Review:
    """The errors of a document and its warnings."""
    errors: tuple[Problem, ...] = ()
    try:
        read(
            document, default_deployment=default_deployment, is_foreign=is_foreign, is_checked=True
        )
    except ManifestInvalid as error:
        errors = error.problems
    if not isinstance(document, dict) or (errors and document_problems(document)):
        return Review(errors, ())
    return Review(errors, cut(warning_problems(document, preview=preview)))


def with_deployment(document: dict[str, Any], deployment_id: str) -> dict[str, Any]:
    """The document, with the orchestrator's deployment filled in if it names none."""
    orchestrator = document.get("orchestrator")
    if not deployment_id or not isinstance(orchestrator, dict) or "deployment" in orchestrator:
        return document
    filled = {"deployment": {"deployment_id": deployment_id}, **orchestrator}
    return {**document, "orchestrator": filled}


def name_problems(manifest: Manifest) -> list[Problem]:
    """Enabled tools with the name of an earlier one or of the platform, as far as the manifest tells."""
    first: dict[str, str] = {}
    found = []
    for name, path, reserved in _visible_names(manifest):
        if name.startswith(RESERVED) and name not in reserved:
            message = (
                f"the model would see {name!r}, and {RESERVED!r} begins names of the platform; "
            )
            found.append(Problem(path, f"{message}rename the tool or its toolset"))
        other = first.setdefault(name, path)
        if other != path:
            message = f"the model would see a second tool named {name!r}; {other} is the first; "
            found.append(Problem(path, f"{message}rename one of them"))
    return found


def _visible_names(manifest: Manifest) -> Iterator[tuple[str, str, Set[str]]]:
    """The names of the tools that are written out, with their places and the names of the platform
    that tools of the kind have.

    Others are not known before they are opened, or resolved.
    """
    for index, toolset in enumerate(manifest.tool_sets):
        if isinstance(toolset, ClientToolSet):
            yield from _client_names(toolset, f"tool_sets[{index}]")
        if not isinstance(toolset, WrittenToolSet) or not toolset.enabled:
            continue
        for number, tool in enumerate(toolset.tools):
            if not tool.enabled or isinstance(tool, PredefinedTool):
                continue
            path = f"tool_sets[{index}].tools[{number}]"
            if isinstance(tool, SimpleDeploymentTool):
                yield sanitize(tool.deployment_id), f"{path}.deployment_id", frozenset()
                continue
            own = tool.open_ai_tool.function.name
            is_prefixed = isinstance(toolset, RestToolSet)
            name = visible_name(toolset.name, own) if is_prefixed else sanitize(own)
            is_internal = isinstance(toolset, InternalToolSet)
            reserved = OF_THE_SERVER if is_internal else frozenset[str]()
            yield name, f"{path}.open_ai_tool.function.name", reserved


def _client_names(toolset: ClientToolSet, path: str) -> Iterator[tuple[str, str, Set[str]]]:
    for number, tool in enumerate(toolset.tools):
        if toolset.enabled and tool.enabled:
            yield sanitize(tool.name), f"{path}.tools[{number}].name", PLATFORM_NAMES

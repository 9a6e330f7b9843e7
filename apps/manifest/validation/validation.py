"""Validates documents. Returns a manifest, or raises an error with all problems."""

from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from apps.manifest.credentials import find_credentials
from apps.manifest.manifest import Manifest
from apps.manifest.nodes import CHECKED, Node, is_preview, marks
from apps.manifest.problems import DocumentInvalid, Problem, cut_problems
from apps.manifest.secrets import FOREIGN, FOREIGN_REFERENCE
from apps.manifest.toolsets.client_tools import RESERVED
from apps.manifest.toolsets.shared_fields import ToolSetFields
from apps.manifest.validation.errors import failure_problems
from apps.manifest.validation.json_document import document_problems
from apps.manifest.validation.warnings import warning_problems

AnyNode = TypeVar("AnyNode", bound=Node)


class ManifestInvalid(DocumentInvalid): ...


@dataclass(frozen=True, slots=True)
class Review:
    errors: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def read_manifest(
    document: object,
    *,
    preview: bool = True,
    default_deployment: str = "",
    is_foreign: bool = False,
    is_checked: bool = False,
) -> Manifest:
    """Validate a document. Raises `ManifestInvalid` with all problems.

    - `preview`: without it, preview fields are set to null, and preview models are omitted.
    - `default_deployment`: the orchestrator's deployment if the document names none.
    - `is_foreign`: the document may not refer to secrets, because it is stored elsewhere.
    - `is_checked`: problems include mistakes in parts that a run would omit.
    """
    if problems := document_problems(document):
        raise ManifestInvalid(cut_problems(problems))
    assert isinstance(document, dict)  # noqa: S101 document_problems refuses everything else
    try:
        filled = with_deployment(document, default_deployment)
        manifest = Manifest.model_validate(
            filled, context={FOREIGN: is_foreign, CHECKED: is_checked}
        )
    except ValidationError as error:
        problems = failure_problems(error, document, Manifest)
        raise ManifestInvalid(cut_problems(problems)) from None
    if problems := name_problems(manifest) + (patch_problems(document) if is_foreign else []):
        raise ManifestInvalid(cut_problems(problems))
    return manifest if preview else without_preview(manifest)


def patch_problems(document: dict[str, Any]) -> list[Problem]:
    """Return a problem for each reference to a secret in an `override`. The other parts of an
    `override` are validated when it is applied.
    """
    return [
        Problem(place.path, FOREIGN_REFERENCE)
        for place in find_credentials(document, "reference")
        if "override" in place.keys
    ]


def review(
    document: object, *, preview: bool, default_deployment: str = "", is_foreign: bool = False
) -> Review:
    """Return the errors and warnings for a document. For the parameters, see `read_manifest`."""
    errors: tuple[Problem, ...] = ()
    try:
        read_manifest(
            document, default_deployment=default_deployment, is_foreign=is_foreign, is_checked=True
        )
    except ManifestInvalid as error:
        errors = error.problems
    if not isinstance(document, dict) or (errors and document_problems(document)):
        return Review(errors, ())
    return Review(errors, cut_problems(warning_problems(document, preview=preview)))


def with_deployment(document: dict[str, Any], deployment_id: str) -> dict[str, Any]:
    """Add the deployment to the document if its orchestrator has none."""
    orchestrator = document.get("orchestrator")
    if not deployment_id or not isinstance(orchestrator, dict) or "deployment" in orchestrator:
        return document
    filled = {"deployment": {"deployment_id": deployment_id}, **orchestrator}
    return {**document, "orchestrator": filled}


def name_problems(manifest: Manifest) -> list[Problem]:
    """Return a problem for each enabled tool whose name is reserved or repeated."""
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
    """Yield the name of each tool that the manifest defines, its path, and the reserved names that
    its kind may use.

    The names of other tools are unknown until their toolset is opened or resolved.
    """
    for index, toolset in enumerate(manifest.tool_sets):
        if isinstance(toolset, ToolSetFields) and toolset.enabled:
            for name, place in toolset.visible_tools():
                yield name, f"tool_sets[{index}].{place}", toolset.kind.reserved


def without_preview(node: AnyNode) -> AnyNode:
    """Set preview fields of the node to null, and remove preview models from its lists."""
    gated = {
        name: None if marks(type(node), name).preview else _gated(value) for name, value in node
    }
    changes = {name: value for name, value in gated.items() if value != getattr(node, name)}
    return node.model_copy(update=changes) if changes else node


def _gated(value: Any) -> Any:
    if isinstance(value, Node):
        return without_preview(value)
    if isinstance(value, tuple):
        return tuple(_gated(item) for item in value if not is_preview(type(item)))
    if isinstance(value, dict):
        return {key: _gated(item) for key, item in value.items()}
    return value

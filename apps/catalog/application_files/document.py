"""Converts an application to the text of `application.yaml` and, for its prompt, the text of
`prompt.md`.

The order of the keys does not depend on the database, which may sort the keys of a manifest.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from apps.catalog.application_files.yaml_text import YAMLTextInvalid, parse_yaml_text
from apps.catalog.application_files.yaml_writer import update_yaml, write_yaml
from apps.manifest.manifest import Manifest
from apps.manifest.shapes import visits

DOCUMENT_FILE = "application.yaml"
PROMPT_FILE = "prompt.md"
DEFAULTS: Mapping[str, Any] = {"description": "", "icon": "", "public": False, "shared": True}
"""Fields with these values are omitted from `application.yaml`."""
FIRST = ("type", "name", "title", "description", "icon")
"""These keys come first in every object in the file, because they identify the object."""
BYTE_ORDER_MARK = "\ufeff"


def document_text(columns: Mapping[str, Any], source: str = "") -> tuple[str, str | None]:
    """Return the texts of `application.yaml` and `prompt.md`. The second is None if the application
    has no prompt.

    `columns` maps field names to values. `source` is the YAML text from which the application was
    imported. Its comments are preserved.
    """
    manifest, prompt = without_prompt(columns["manifest"])
    written = source_document(source)
    document = {
        name: value
        for name, value in {**columns, "manifest": manifest}.items()
        if name in written or (name != "slug" and DEFAULTS.get(name) != value)
    }
    if written:
        return update_yaml(source, {**document, "manifest": order_fields(manifest)}), prompt
    return write_yaml({**document, "manifest": order_fields(manifest)}), prompt


def source_document(source: str) -> dict[str, Any]:
    try:
        found = parse_yaml_text(source).value if source else None
    except YAMLTextInvalid:
        return {}
    return found if isinstance(found, dict) else {}


def order_fields(manifest: Any) -> Any:
    """Return the manifest with its fields in the order of the schema. Unknown keys follow in
    alphabetical order.
    """
    if not isinstance(manifest, dict):
        return by_name(manifest, {})
    places = {
        id(visit.value): {
            field.alias or name: rank for rank, (name, field) in enumerate(fields_of(visit.model))
        }
        for visit in visits(manifest, Manifest)
    }
    return by_name(manifest, places)


def fields_of(model: Any) -> list[tuple[str, Any]]:
    return list(model.model_fields.items())


def by_name(value: Any, places: Mapping[int, Mapping[str, int]]) -> Any:
    if isinstance(value, list):
        return [by_name(item, places) for item in value]
    if not isinstance(value, dict):
        return value
    ranks = places.get(id(value), {})

    def place(key: str) -> tuple[int, int, str]:
        return FIRST.index(key) if key in FIRST else len(FIRST), ranks.get(key, len(ranks)), key

    return {key: by_name(value[key], places) for key in sorted(value, key=place)}


# --- The prompt ---------------------------------------------------------------------------------


def custom_prompt(manifest: Any) -> dict[str, Any] | None:
    """Return the orchestrator's `system_prompt` if its type is "custom", else None."""
    orchestrator = manifest.get("orchestrator") if isinstance(manifest, dict) else None
    prompt = orchestrator.get("system_prompt") if isinstance(orchestrator, dict) else None
    is_custom = isinstance(prompt, dict) and prompt.get("type") == "custom"
    return prompt if is_custom else None


def without_prompt(manifest: Any) -> tuple[Any, str | None]:
    """Return the manifest without the text of its custom prompt, and that text as the content of
    `prompt.md`. The text is None if there is none.
    """
    content = (custom_prompt(manifest) or {}).get("content")
    if not isinstance(content, str) or not content or content.startswith(BYTE_ORDER_MARK):
        return manifest, None
    changed = deepcopy(manifest)
    del changed["orchestrator"]["system_prompt"]["content"]
    return changed, f"{content}\n"


def with_prompt(manifest: Any, text: str) -> Any:
    """Return the manifest with the content of `prompt.md` as the text of its custom prompt. Raises
    `ValueError` if the manifest has no custom prompt, or already contains its text.
    """
    changed = deepcopy(manifest)
    prompt = custom_prompt(changed)
    if prompt is None:
        raise ValueError(
            f"the orchestrator in {DOCUMENT_FILE} has no system_prompt of the type 'custom'; write "
            "system_prompt: {type: custom, variables: {}} there."
        )
    if "content" in prompt:
        raise ValueError(f"{DOCUMENT_FILE} also has a prompt; remove one of them.")
    prompt["content"] = text.removesuffix("\n")
    return changed

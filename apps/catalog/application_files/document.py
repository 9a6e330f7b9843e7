"""The document of `application.yaml`: an application without its prompt, which is a file beside it.

Its order does not depend on the database, which may sort the keys of a manifest.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from apps.catalog.application_files.yaml_text import YAMLTextInvalid, parse
from apps.catalog.application_files.yaml_writer import write, written_into
from apps.manifest.manifest import Manifest
from apps.manifest.shapes import visits

DOCUMENT_FILE = "application.yaml"
PROMPT_FILE = "prompt.md"
DEFAULTS: Mapping[str, Any] = {"description": "", "icon": "", "public": False, "shared": True}
"""What a file that leaves them out means."""
FIRST = ("type", "name", "title", "description", "icon")
"""Keys that tell people what an object is."""
BYTE_ORDER_MARK = "\ufeff"


def document_text(columns: Mapping[str, Any], source: str = "") -> tuple[str, str | None]:
    """The texts of `application.yaml` and `prompt.md`, None for an application without a prompt.

    `columns` are named as in files. `source` is the text that the application was read from.
    """
    manifest, prompt = without_prompt(columns["manifest"])
    written = source_document(source)
    document = {
        name: value
        for name, value in {**columns, "manifest": manifest}.items()
        if name in written or (name != "slug" and DEFAULTS.get(name) != value)
    }
    if written:
        return written_into(source, {**document, "manifest": ordered(manifest)}), prompt
    return write({**document, "manifest": ordered(manifest)}), prompt


def source_document(source: str) -> dict[str, Any]:
    try:
        found = parse(source).value if source else None
    except YAMLTextInvalid:
        return {}
    return found if isinstance(found, dict) else {}


def ordered(manifest: Any) -> Any:
    """The manifest with its fields as the models have them, and all other keys by name."""
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
    """The prompt that is written in a manifest, None if there is none."""
    orchestrator = manifest.get("orchestrator") if isinstance(manifest, dict) else None
    prompt = orchestrator.get("system_prompt") if isinstance(orchestrator, dict) else None
    is_custom = isinstance(prompt, dict) and prompt.get("type") == "custom"
    return prompt if is_custom else None


def without_prompt(manifest: Any) -> tuple[Any, str | None]:
    """The manifest and the content of `prompt.md`."""
    content = (custom_prompt(manifest) or {}).get("content")
    if not isinstance(content, str) or not content or content.startswith(BYTE_ORDER_MARK):
        return manifest, None
    changed = deepcopy(manifest)
    del changed["orchestrator"]["system_prompt"]["content"]
    return changed, f"{content}\n"


def with_prompt(manifest: Any, text: str) -> Any:
    """The manifest with the text of `prompt.md`. Raises ValueError."""
    changed = deepcopy(manifest)
    prompt = custom_prompt(changed)
    if prompt is None:
        raise ValueError(
            f"the orchestrator in {DOCUMENT_FILE} has no system_prompt of the type 'custom'; write "
            "system_prompt: {type: custom, variables: {}} there."
        )
    if "content" in prompt:
        raise ValueError(f"{DOCUMENT_FILE} has the prompt, too; take it out of one of them.")
    prompt["content"] = text.removesuffix("\n")
    return changed

"""The manifest reference: writes the tables of fields in a Markdown document from the models.

A table stands between `<!-- fields of Model at path -->` and `<!-- end -->`; the prose around it
stays. A field that models inherit is in the table of their base, if that has one.
"""

import re
from collections.abc import Iterator, Mapping

from apps.manifest.json_schema import Generator, Schema
from apps.manifest.manifest import Manifest
from apps.manifest.nodes import Node, is_preview
from apps.manifest.reference_table import Anchors, Model, Rows, name_in, table_of

_table = re.compile(
    r"(<!-- fields of (?P<model>\w+) at (?P<path>.+?) -->\n).*?(<!-- end -->)", re.DOTALL
)
_heading = re.compile(r"^#+ (.+)$", re.MULTILINE)

HEAD = "| field | type | default | what it does |\n|---|---|---|---|\n"


class ReferenceIncomplete(Exception):
    """The document has no table for a field, or one for an unknown model."""


def rendered(document: str) -> str:
    """The document with its tables as the models are now. Raises `ReferenceIncomplete`."""
    anchors = {
        found["model"]: anchor_before(document, found.start())
        for found in _table.finditer(document)
    }
    models = {model.__name__: model for model in all_models(Node)}
    if unknown := sorted(anchors.keys() - models.keys()):
        raise ReferenceIncomplete(
            f"There is no model named {unknown[0]}. Correct the name in `<!-- fields of "
            f"{unknown[0]} at …`, or delete that table."
        )
    schema = Manifest.model_json_schema(schema_generator=Generator)
    check_complete(schema, models, anchors)
    kinds = frozenset(tagged_models(schema))

    def table(found: re.Match[str]) -> str:
        model = models[found["model"]]
        state = ", a preview feature" if is_preview(model) else ""
        rows = "".join(Rows(model, anchors, models, kinds))
        return f"{found[1]}\nAt {found['path']}{state}:\n\n{HEAD}{rows}\n{found[4]}"

    return _table.sub(table, document)


def all_models(base: Model) -> Iterator[Model]:
    """All subclasses within this package; predefined content has others."""
    for model in base.__subclasses__():
        if model.__module__.startswith(__package__ or ""):
            yield model
            yield from all_models(model)


def check_complete(schema: Schema, models: Mapping[str, Model], anchors: Anchors) -> None:
    """Raises `ReferenceIncomplete`."""
    for model in (models[name] for name in ("Manifest", *schema["$defs"])):
        for name in model.model_fields:
            if table_of(model, name, anchors) is None:
                raise ReferenceIncomplete(
                    f"No table has the field {name} of {model.__name__}. Under a heading of its "
                    f"own write `<!-- fields of {model.__name__} at path -->` and, in the next "
                    "line, `<!-- end -->`, where path is its place in a manifest, such as "
                    "`tool_sets[]`; then run `manage.py manifest_reference`."
                )


def tagged_models(schema: object) -> Iterator[str]:
    """The names of models that are chosen by their `type`, which therefore is required."""
    if isinstance(schema, list):
        yield from (name for item in schema for name in tagged_models(item))
    elif isinstance(schema, dict):
        yield from map(name_in, schema.get("discriminator", {}).get("mapping", {}).values())
        yield from tagged_models(list(schema.values()))


def anchor_before(document: str, end: int) -> str:
    """GitHub's anchor of the last heading before a place."""
    headings = _heading.findall(document, 0, end)
    return slug(headings[-1]) if headings else ""


def slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")

"""Writes the field tables into the manifest reference, a Markdown document.

A table is between `<!-- fields of Model at path -->` and `<!-- end -->`. The table of toolset kinds
is below `<!-- kinds of toolset -->`. All other text remains unchanged. An inherited field is in the
base model's table, if there is one.
"""

import re
from collections.abc import Iterator, Mapping

from apps.manifest.manifest import Manifest
from apps.manifest.nodes import Node, is_preview
from apps.manifest.schema.json_schema import Generator, Schema
from apps.manifest.schema.reference_table import (
    Anchors,
    Model,
    TableRows,
    referenced_name,
    table_of,
)
from apps.manifest.toolsets.kinds import KINDS

_table = re.compile(
    r"(<!-- fields of (?P<model>\w+) at (?P<path>.+?) -->\n).*?(<!-- end -->)", re.DOTALL
)
_kinds = re.compile(r"(<!-- kinds of toolset -->\n).*?(<!-- end -->)", re.DOTALL)
_heading = re.compile(r"^#+ (.+)$", re.MULTILINE)

HEAD = "| field | type | default | description |\n|---|---|---|---|\n"
KINDS_HEAD = "| `type` | tools |\n|---|---|\n"


class ReferenceIncomplete(Exception):
    """Raised if a field has no table, or if a table's model does not exist."""


def render_tables(document: str) -> str:
    """Return the document with tables generated from the models. Raises `ReferenceIncomplete`."""
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
        rows = "".join(TableRows(model, anchors, models, kinds))
        return f"{found[1]}\nAt {found['path']}{state}:\n\n{HEAD}{rows}\n{found[4]}"

    tables = _table.sub(table, document)
    return _kinds.sub(lambda found: f"{found[1]}\n{kinds_table(anchors)}\n{found[2]}", tables)


def kinds_table(anchors: Anchors) -> str:
    """Return the table of toolset kinds, in the order of their sections in the document."""
    types = {schema.__name__: name for name, schema in KINDS.items()}
    rows = (
        f"| [`{types[model]}`](#{anchor}) | {KINDS[types[model]].kind.tools} |\n"
        for model, anchor in anchors.items()
        if model in types
    )
    return f"{KINDS_HEAD}{''.join(rows)}"


def all_models(base: Model) -> Iterator[Model]:
    """Yield all subclasses of a model in `apps.manifest`. Other subclasses are not part of the
    reference.
    """
    for model in base.__subclasses__():
        if model.__module__.startswith("apps.manifest."):
            yield model
            yield from all_models(model)


def check_complete(schema: Schema, models: Mapping[str, Model], anchors: Anchors) -> None:
    """Raise `ReferenceIncomplete` if a field is in no table."""
    for model in (models[name] for name in ("Manifest", *schema["$defs"])):
        for name in model.model_fields:
            if table_of(model, name, anchors) is None:
                raise ReferenceIncomplete(
                    f"No table has the field {name} of {model.__name__}. Under a heading of its "
                    f"own, write `<!-- fields of {model.__name__} at path -->` and, on the next "
                    "line, `<!-- end -->`, where path is its location in a manifest, such as "
                    "`tool_sets[]`; then run `manage.py manifest_reference`."
                )


def tagged_models(schema: object) -> Iterator[str]:
    """Yield the names of the models that a value's `type` selects. In these models, `type` is
    required.
    """
    if isinstance(schema, list):
        yield from (name for item in schema for name in tagged_models(item))
    elif isinstance(schema, dict):
        yield from map(referenced_name, schema.get("discriminator", {}).get("mapping", {}).values())
        yield from tagged_models(list(schema.values()))


def anchor_before(document: str, end: int) -> str:
    """Return GitHub's anchor for the last heading before a position."""
    headings = _heading.findall(document, 0, end)
    return slug(headings[-1]) if headings else ""


def slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")

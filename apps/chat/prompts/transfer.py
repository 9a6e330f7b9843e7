"""Exports and imports a user's prompts as a JSON file."""

from typing import Any

from django.db import transaction
from django.forms.utils import ErrorDict
from django.utils.translation import gettext
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from apps.catalog.saved_prompts import MOST_OF_A_PERSON, SavedPrompt, own_prompts
from apps.chat.prompts.form import PromptForm
from apps.doors.bodies import first_problem
from apps.errors import Refused, TooLarge

IMPORT_BYTES = 12 * 1024 * 1024


class PromptEntry(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str
    title: str = ""
    text: str


class PromptFile(BaseModel):
    model_config = ConfigDict(extra="ignore")

    prompts: list[PromptEntry] = Field(max_length=MOST_OF_A_PERSON)


def export_prompts(user: int) -> dict[str, Any]:
    rows = own_prompts(user).values("name", "title", "text")
    return {"prompts": list(rows)}


@transaction.atomic
def import_prompts(user: int, content: bytes) -> int:
    """Store the prompts from an exported JSON file, and return their number. They replace the
    user's prompts with the same names. Raises `Refused` if the file is invalid.
    """
    entries = read_prompts(content)
    known = {row.name: row for row in own_prompts(user)}
    for index, entry in enumerate(entries):
        row = known.get(entry.name) or SavedPrompt(user_id=user)
        form = PromptForm(row, {**entry.model_dump(), "title": entry.title or entry.name})
        if not form.is_valid():
            raise Refused("bad_prompt", first_mistake(index, form.errors))
        known[entry.name] = form.save()
    return len(entries)


def read_prompts(content: bytes) -> list[PromptEntry]:
    """Parse an exported JSON file of prompts. Raises `Refused` with the name of the first invalid
    field.
    """
    if len(content) > IMPORT_BYTES:
        raise TooLarge("too_large", gettext("The file is too large; the limit is 12 MB."))
    try:
        return PromptFile.model_validate_json(content).prompts
    except ValidationError as error:
        raise Refused("bad_file", f"{first_problem(error)}.") from error


def first_mistake(index: int, errors: ErrorDict) -> str:
    field, texts = next(iter(errors.items()))
    text = texts[0]
    return str(text) if field == "__all__" else f"prompts.{index}.{field}: {text}"

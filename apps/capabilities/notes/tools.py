"""Declares the notes tools for the model. Their names and arguments are the same as in the note app
TidGi.
"""

from functools import partial

from django.utils.translation import gettext_lazy

from apps.capabilities.notes import read_tools, write_tools
from apps.capabilities.notes.run_notes import Work, run_tool
from apps.capabilities.registry import PreparedTool
from apps.capabilities.wrappers.approval import Risk
from apps.capabilities.wrappers.approval_rules import ApprovalRules, installation
from apps.capabilities.wrappers.display import Title
from apps.capabilities.wrappers.internal import (
    IN_TITLE,
    PlatformTool,
    internal_tool,
    parameters,
    text_parameter,
)
from apps.manifest.features.features import Notes
from apps.manifest.manifest import Manifest
from apps.manifest.toolsets.approvals import Approval
from apps.manifest.toolsets.parameters import (
    FunctionParameters,
    Parameter,
    SimpleParameter,
    SimpleType,
)
from apps.notes.filters import UNDERSTOOD

DEFAULT_APPROVAL = Approval(mode="confirm", always=("conversation", "application"))
"""The default approval setting for changes to notes."""

WORKSPACE = text_parameter(
    "The owner of the notes: `notes` for the user, or for the team in which they work; a team "
    "can also be given by its name.",
    "notes",
)
TITLE = text_parameter("The title of the note. Case is ignored.", display=IN_TITLE)
FILTER = text_parameter(
    f"A filter for the notes: {UNDERSTOOD}. All conditions must match; an empty filter matches all notes.",
    "",
)


def number(
    description: str, default: float | None, kind: SimpleType = "integer"
) -> SimpleParameter:
    return SimpleParameter(type=kind, description=description, default=default)


def taking(given: dict[str, Parameter], *required: str) -> FunctionParameters:
    return parameters({"workspaceName": WORKSPACE, **given}, *required)


READING: tuple[tuple[str, str, FunctionParameters, Work, Title], ...] = (
    (
        "wiki-search",
        "Searches notes and returns them with their texts: by a filter, or by meaning. To read one "
        "note, use the filter [title[its title]].",
        taking(
            {
                "searchType": text_parameter(
                    "`filter` searches with the expression in `filter`, `vector` by "
                    "the meaning of `query`.",
                    "filter",
                    enum=("filter", "vector"),
                ),
                "filter": FILTER.model_copy(update={"display": IN_TITLE}),
                "query": text_parameter("The subject of the notes.", "", display=IN_TITLE),
                "limit": number("The number of notes, 1 to 50.", 10),
                "threshold": number(
                    "The minimum similarity for a vector search, 0 to 1.", 0.7, "number"
                ),
            }
        ),
        read_tools.search,
        gettext_lazy("Search notes"),
    ),
    (
        "wiki-update-embeddings",
        "Updates the embeddings of changed notes, which a search by meaning compares. A search "
        "does that itself for some notes.",
        taking(
            {
                "forceUpdate": SimpleParameter(
                    type="boolean",
                    description="Update all notes, including unchanged ones.",
                    default=False,
                )
            }
        ),
        read_tools.update_embeddings,
        gettext_lazy("Update embeddings of notes"),
    ),
    (
        "wiki-backlinks",
        "Lists the notes whose text has a link to a note.",
        taking({"title": TITLE, "limit": number("The number of notes, 1 to 200.", 20)}, "title"),
        read_tools.backlinks,
        gettext_lazy("Notes with a link to"),
    ),
    (
        "wiki-toc",
        "Shows the tree of notes below a title: those that have it as a tag, those tagged with these, "
        "and so on.",
        taking(
            {
                "rootTitle": text_parameter("The title at the root of the tree.", display=IN_TITLE),
                "depth": number("The number of levels, 1 to 10.", 3),
            },
            "rootTitle",
        ),
        read_tools.contents,
        gettext_lazy("Contents of"),
    ),
    (
        "wiki-recent",
        "Lists the most recently changed notes, newest first.",
        taking(
            {
                "limit": number("The number of notes, 1 to 200.", 20),
                "daysAgo": number(
                    "Only notes that were changed within this number of days.", None, "number"
                ),
            }
        ),
        read_tools.recent,
        gettext_lazy("Newest notes"),
    ),
    (
        "wiki-list-tiddlers",
        "Lists notes by title without their texts, page after page.",
        taking(
            {
                "filter": FILTER,
                "offset": number("The start of the page, counted from 0.", 0),
                "limit": number("The number of notes, 1 to 200.", 50),
                "fields": text_parameter(
                    "What to list for each note: title, tags, created, modified, or names of "
                    "fields, separated by commas.",
                    "title,tags,modified",
                ),
            }
        ),
        read_tools.list_notes,
        gettext_lazy("List notes"),
    ),
    (
        "wiki-get-errors",
        "Reports the problems of a note: broken links, missing files, code blocks without an "
        "end, an invalid front matter.",
        taking({"title": TITLE}, "title"),
        read_tools.errors,
        gettext_lazy("Check the note"),
    ),
)
WRITING: tuple[tuple[str, str, FunctionParameters, Work, Title], ...] = (
    (
        "wiki-operation",
        "Changes notes. add: a new note; setText: its whole text; setFields: its tags and fields, "
        "from extraMeta; rename: `text` is the new title, and links are updated; delete.",
        taking(
            {
                "operation": text_parameter(f"One of {', '.join(write_tools.OPERATIONS)}."),
                "title": TITLE,
                "text": text_parameter("Markdown; [[title]] is a link to another note."),
                "extraMeta": text_parameter(
                    'A JSON object with tags and fields, such as {"tags": ["work"], "status": '
                    '"open"}; null removes a field.',
                    "{}",
                ),
                "options": text_parameter("Has no effect.", "{}"),
                "variables": text_parameter("Has no effect.", "{}"),
            },
            "operation",
            "title",
        ),
        write_tools.operate,
        gettext_lazy("Change notes"),
    ),
    (
        "edit-tiddler",
        "Changes a part of the text of a note, in which `old` must occur exactly once.",
        taking(
            {
                "title": TITLE,
                "old": text_parameter("The exact current text of the part."),
                "new": text_parameter("The new text of the part."),
            },
            "title",
            "old",
            "new",
        ),
        write_tools.edit,
        gettext_lazy("Edit the note"),
    ),
)


def note_tools(manifest: Manifest, wanted: Notes) -> tuple[PreparedTool, ...]:
    features = manifest.features
    application = features.approval if features is not None else None
    rules = ApprovalRules.of(wanted.approval, application, DEFAULT_APPROVAL, installation())
    reads = [note_tool(manifest, *one, risk="read-only") for one in READING]
    return (*reads, *(note_tool(manifest, *one, rules) for one in WRITING))


def note_tool(
    manifest: Manifest,
    name: str,
    description: str,
    taken: FunctionParameters,
    work: Work,
    title: Title,
    approval: ApprovalRules | None = None,
    *,
    risk: Risk = "changes",
) -> PreparedTool:
    return internal_tool(
        manifest,
        PlatformTool(
            name,
            description,
            taken,
            title,
            risk,
            # A note that looks like a file path is still a note.
            addresses=frozenset(taken.properties),
            is_private=True,
        ),
        partial(run_tool, work),
        approval=approval,
    )

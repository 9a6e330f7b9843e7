"""The tools of notes: what the model is told of them. Their names and arguments are TidGi's."""

from functools import partial

from apps.capabilities.notes import read_tools, write_tools
from apps.capabilities.notes.run_notes import Work, run_tool
from apps.capabilities.wrappers.approval_rules import ApprovalRules, installation
from apps.capabilities.wrappers.internal import (
    IN_TITLE,
    internal_tool,
    parameters,
    text_parameter,
)
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.manifest.approvals import Approval
from apps.manifest.manifest import Manifest
from apps.manifest.notes import Notes
from apps.manifest.parameters import FunctionParameters, Parameter, SimpleParameter, SimpleType
from apps.notes.filters import UNDERSTOOD

ASKED_FIRST = Approval(mode="confirm", always=("conversation", "application"))
"""What holds of changes where the application says nothing."""

WORKSPACE = text_parameter(
    "Whose notes: `notes` for those of the person, or of the team that they work in; a team also "
    "goes by its name.",
    "notes",
)
TITLE = text_parameter(
    "The title of the note. Upper and lower case are the same.", display=IN_TITLE
)
FILTER = text_parameter(
    f"What the notes have to be: {UNDERSTOOD}. All of it has to fit; empty: all notes.", ""
)


def number(
    description: str, default: float | None, kind: SimpleType = "integer"
) -> SimpleParameter:
    return SimpleParameter(type=kind, description=description, default=default)


def taking(given: dict[str, Parameter], *required: str) -> FunctionParameters:
    return parameters({"workspaceName": WORKSPACE, **given}, *required)


READING: tuple[tuple[str, str, FunctionParameters, Work, str], ...] = (
    (
        "wiki-search",
        "Searches notes and returns them with their texts: by a filter, or by meaning. To read one "
        "note, use the filter [title[its title]].",
        taking(
            {
                "searchType": text_parameter(
                    "`filter`: by `filter`; `vector`: by the meaning of `query`.",
                    "filter",
                    enum=("filter", "vector"),
                ),
                "filter": FILTER.model_copy(update={"display": IN_TITLE}),
                "query": text_parameter("What the notes are to be about.", "", display=IN_TITLE),
                "limit": number("How many notes, 1 to 50.", 10),
                "threshold": number(
                    "The least similarity of a vector search, 0 to 1.", 0.7, "number"
                ),
            }
        ),
        read_tools.search,
        "Search notes",
    ),
    (
        "wiki-update-embeddings",
        "Makes notes that were changed comparable by their meaning. Searches do that for some notes "
        "by themselves.",
        taking(
            {
                "forceUpdate": SimpleParameter(
                    type="boolean", description="All notes, changed or not.", default=False
                )
            }
        ),
        read_tools.update_embeddings,
        "Update what makes notes comparable",
    ),
    (
        "wiki-backlinks",
        "Lists the notes whose text has a link to a note.",
        taking({"title": TITLE, "limit": number("How many, 1 to 200.", 20)}, "title"),
        read_tools.backlinks,
        "Notes with a link to",
    ),
    (
        "wiki-toc",
        "Shows the tree of notes below a title: those that have it as a tag, those tagged with these, "
        "and so on.",
        taking(
            {
                "rootTitle": text_parameter("The title at the root.", display=IN_TITLE),
                "depth": number("How many levels, 1 to 10.", 3),
            },
            "rootTitle",
        ),
        read_tools.contents,
        "Contents of",
    ),
    (
        "wiki-recent",
        "Lists the notes that were changed last, the newest first.",
        taking(
            {
                "limit": number("How many, 1 to 200.", 20),
                "daysAgo": number("Only those of so many days.", None, "number"),
            }
        ),
        read_tools.recent,
        "Newest notes",
    ),
    (
        "wiki-list-tiddlers",
        "Lists notes by title without their texts, page after page.",
        taking(
            {
                "filter": FILTER,
                "offset": number("Where the page begins, counted from 0.", 0),
                "limit": number("How many, 1 to 200.", 50),
                "fields": text_parameter(
                    "What is told of each: title, tags, created, modified, or names of fields, with "
                    "commas.",
                    "title,tags,modified",
                ),
            }
        ),
        read_tools.list_notes,
        "List notes",
    ),
    (
        "wiki-get-errors",
        "Tells what is wrong with a note: links that lead nowhere, missing files, code that does not "
        "end, a broken front matter.",
        taking({"title": TITLE}, "title"),
        read_tools.errors,
        "Check the note",
    ),
)
WRITING: tuple[tuple[str, str, FunctionParameters, Work, str], ...] = (
    (
        "wiki-operation",
        "Changes notes. add: a new note; setText: its whole text; setFields: its tags and fields, "
        "from extraMeta; rename: `text` is the new title, and links follow; delete.",
        taking(
            {
                "operation": text_parameter(f"One of {', '.join(write_tools.OPERATIONS)}."),
                "title": TITLE,
                "text": text_parameter("Markdown; [[title]] is a link to another note."),
                "extraMeta": text_parameter(
                    'A JSON object with tags and fields, such as {"tags": ["work"], "status": '
                    '"open"}; null takes a field away.',
                    "{}",
                ),
                "options": text_parameter("Has no effect.", "{}"),
                "variables": text_parameter("Has no effect.", "{}"),
            },
            "operation",
            "title",
        ),
        write_tools.operate,
        "Change notes",
    ),
    (
        "edit-tiddler",
        "Changes a part of the text of a note. `old` has to stand in it exactly once.",
        taking(
            {
                "title": TITLE,
                "old": text_parameter("The part as it is, exactly."),
                "new": text_parameter("What is to stand there."),
            },
            "title",
            "old",
            "new",
        ),
        write_tools.edit,
        "Edit the note",
    ),
)


def note_tools(manifest: Manifest, wanted: Notes) -> tuple[PreparedTool, ...]:
    features = manifest.features
    application = features.approval if features is not None else None
    rules = ApprovalRules.of(wanted.approval, application, ASKED_FIRST, installation())
    reads = [note_tool(manifest, *one, is_repeatable=True) for one in READING]
    return (*reads, *(note_tool(manifest, *one, rules) for one in WRITING))


def note_tool(
    manifest: Manifest,
    name: str,
    description: str,
    taken: FunctionParameters,
    work: Work,
    title: str,
    approval: ApprovalRules | None = None,
    *,
    is_repeatable: bool = False,
) -> PreparedTool:
    return internal_tool(
        manifest,
        (name, description, taken),
        partial(run_tool, work),
        title,
        is_repeatable=is_repeatable,
        is_private=True,
        # A note that looks like the address of a file is a note.
        addresses=frozenset(taken.properties),
        approval=approval,
    )

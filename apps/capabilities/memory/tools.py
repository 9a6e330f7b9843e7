"""The tools of memory: what the model is told of them, and what they do."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.memory.run_memories import MEMORIES, RunMemories
from apps.capabilities.memory.text import hits_text, memories_text, memory_line
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.approval import Risk
from apps.capabilities.wrappers.internal import (
    internal_tool,
    parameters,
    plain_result,
    text_parameter,
)
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.errors import InvalidParameter, MemoryRefused, ServiceFailed, ToolError
from apps.manifest.manifest import Manifest
from apps.manifest.memory import Memory as MemoryFeature
from apps.manifest.parameters import (
    ArrayParameter,
    FunctionParameters,
    Parameter,
    SimpleParameter,
    SimpleSchema,
)
from apps.workspace.memories import operations
from apps.workspace.memories.operations import most_important, new_memory
from apps.workspace.memories.port import GENERAL, IMPORTANCE

MOST_HITS = 20
USUAL_HITS = 5
ID = SimpleParameter(type="integer", description="The id of the memory, as a search shows it.")


def search_names(wanted: MemoryFeature) -> tuple[str, str]:
    """The names of the tool for searching and of its parameter for the number of results."""
    return ("search_memory", "top_k") if wanted.source_names else ("search_memories", "limit")


def memory_tools(manifest: Manifest, wanted: MemoryFeature) -> tuple[PreparedTool, ...]:
    search, limit = search_names(wanted)
    about = about_parameters(wanted)
    make = partial(memory_tool, manifest)
    return (
        make(
            ("store_memory", STORE, parameters(about, *required_of(wanted))),
            store,
            "Remember",
        ),
        make(
            (search, SEARCH, search_parameters(limit)),
            partial(search_memories, limit),
            "Search memories",
            risk="read-only",
        ),
        make(
            ("update_memory", UPDATE, parameters({"id": ID, **undefaulted(about)}, "id")),
            update,
            "Change a memory",
        ),
        make(("forget_memory", FORGET, parameters({"id": ID}, "id")), forget, "Forget a memory"),
        make(
            ("delete_all_memories", DELETE_ALL, parameters({})),
            delete_all,
            "Delete all memories",
            risk="destructive",
        ),
    )


STORE = (
    "Stores one fact about the person, to be remembered in later conversations. Write it so that "
    "it can be understood by itself."
)
SEARCH = (
    "Searches what is remembered of the person, by meaning. Returns the memories most like the "
    "query, each with its id. An empty query returns the most important ones."
)
UPDATE = "Changes a memory that is no longer true. What is left out stays as it is."
FORGET = "Deletes one memory for good."
DELETE_ALL = (
    "Deletes everything that is remembered of the person. It cannot be undone: call it only after "
    "the person has clearly asked for it and confirmed it."
)

Work = Callable[[RunMemories, Mapping[str, Any]], Any]


def about_parameters(wanted: MemoryFeature) -> dict[str, Parameter]:
    category = "What kind of fact it is, such as personal_info, preferences, goals, plans or work."
    default = GENERAL if wanted.categories is None or GENERAL in wanted.categories else None
    return {
        "content": text_parameter("The fact, in one or two sentences."),
        "category": text_parameter(category, default, enum=wanted.categories),
        "importance": SimpleParameter(
            type="number",
            description="From 0 to 1: 1 for who the person is, 0.3 for what soon changes.",
            default=IMPORTANCE,
        ),
        "topics": ArrayParameter(
            type="array",
            items=SimpleSchema(type="string"),
            description="A few words that the fact is about.",
        ),
    }


def required_of(wanted: MemoryFeature) -> tuple[str, ...]:
    """The category as well, if none of the possible ones is the usual one."""
    is_named = wanted.categories is not None and GENERAL not in wanted.categories
    return ("content", "category") if is_named else ("content",)


def undefaulted(about: Mapping[str, Parameter]) -> dict[str, Parameter]:
    """The parameters of a change, which leaves alone what is left out."""
    return {
        name: one.model_copy(update={"default": None}) if hasattr(one, "default") else one
        for name, one in about.items()
    }


def search_parameters(limit: str) -> FunctionParameters:
    number = SimpleParameter(
        type="integer",
        description=f"How many memories, 1 to {MOST_HITS}.",
        default=USUAL_HITS,
    )
    query = text_parameter("What to look for, as a question or a few words.")
    return parameters({"query": query, limit: number}, "query")


def memory_tool(
    manifest: Manifest,
    spec: tuple[str, str, FunctionParameters],
    work: Work,
    title: str,
    *,
    risk: Risk = "changes",
) -> PreparedTool:
    return internal_tool(
        manifest,
        spec,
        partial(run_tool, work),
        title,
        is_repeatable=risk == "read-only",
        risk=risk,
        is_private=True,
        # A memory that looks like the address of a file is a memory.
        addresses=frozenset(spec[2].properties),
    )


async def run_tool(work: Work, opening: Opening, invocation: Invocation) -> ToolResult:
    """Raises `InvalidParameter`, `ToolError`."""
    with refusals():
        text = await work(opening.known[MEMORIES], invocation.arguments)
    return plain_result(invocation, text)


@contextmanager
def refusals() -> Iterator[None]:
    """Turn what memories refuse into what the model is told."""
    try:
        yield
    except MemoryRefused as error:
        if error.field:
            raise InvalidParameter(error.field, str(error)) from error
        raise ToolError(str(error), is_lasting=True) from error
    except ServiceFailed as error:
        raise ToolError(f"The memories cannot be reached. {error}") from error


async def store(own: RunMemories, given: Mapping[str, Any]) -> str:
    fields = {name: given[name] for name in ("importance", "category") if name in given}
    memory = new_memory(given["content"], topics=tuple(given.get("topics", ())), **fields)
    stored = await operations.add(own.store, own.embedder, memory, own.wanted.categories)
    own.look_after()
    return f"Stored: {memory_line(stored)}"


async def search_memories(limit: str, own: RunMemories, given: Mapping[str, Any]) -> str:
    most, query = min(max(given[limit], 1), MOST_HITS), given["query"]
    if not query.strip():
        return memories_text(await most_important(own.store, most))
    return hits_text(await operations.search(own.store, own.embedder, query, most))


async def update(own: RunMemories, given: Mapping[str, Any]) -> str:
    fields = {name: value for name, value in given.items() if name != "id"}
    if "topics" in fields:
        fields["topics"] = tuple(fields["topics"])
    if not fields:
        raise ToolError("Nothing is to be changed. Name what is new about the memory.")
    categories: Sequence[str] | None = own.wanted.categories
    changed = await operations.update(own.store, own.embedder, given["id"], fields, categories)
    return f"Changed: {memory_line(changed)}"


async def forget(own: RunMemories, given: Mapping[str, Any]) -> str:
    forgotten = await operations.forget(own.store, given["id"])
    return f"Forgotten: {memory_line(forgotten)}"


async def delete_all(own: RunMemories, given: Mapping[str, Any]) -> str:
    await operations.delete_all(own.store)
    return "All memories of this person are deleted."

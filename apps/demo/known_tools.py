"""Plans calls to tools whose names are built into the demo model, for memory, notes, documents,
images and code.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from apps.agent.tools import ToolSpec
from apps.demo.calls import PlannedCall, default_of
from apps.demo.clues import all_clues

STORE, SEARCH, FORGET_ALL = "store_memory", "search_memories", "delete_all_memories"
CONFIRM = (
    "That deletes everything that I remember about you, and cannot be undone. If you are sure, write: "
    "**Yes, forget everything about me.**"
)
NO_WEB = (
    "I have no tool that searches the web. An operator of this installation can add one: "
    "register the MCP server `duckduckgo` in the admin."
)
SEARCH_NOTES, CHANGE_NOTES = "wiki-search", "wiki-operation"
ASK_DOCUMENT, READ_DOCUMENT = "rag_tool", "file_content_extraction_tool"
MOST_FILES = 20
"""The maximum number of operator files in one call."""
DRAW = "image_generation_tool"
RUN_CODE, EXECUTE_CODE = "internal_code_execution_python_interpreter", "execute_code"
MOST_FOUND = 5
"""The maximum number of memories that a search returns."""


class FactKind(NamedTuple):
    """A kind of fact that users state about themselves. `importance` is from 0 to 1."""

    pattern: re.Pattern[str]
    category: str
    importance: float


def kind(pattern: str, category: str, importance: float) -> FactKind:
    return FactKind(re.compile(rf"(?i:\b(?:{pattern})\b)"), category, importance)


KINDS = (
    kind("my name is|i live in|i(?: am|'m) from|my birthday is", "personal_info", 0.9),
    kind("i work (?:as|at|for|in)", "work", 0.8),
    kind("i (?:really )?(?:like|love|prefer|enjoy|hate|dislike)|my favou?rite", "preferences", 0.6),
    kind(
        r"i (?:want|plan|hope) to (?!know|see|ask|hear)\w+|i(?: am|'m) (?:planning|learning)",
        "goals",
        0.5,
    ),
)

_sentence = re.compile(r"[^.!?\n]+(?:[.!?]+(?=\s|$)|\.(?=\S)[^.!?\n]*)*")
_about_oneself = re.compile(r"\b(?:I|my|mine)\b")
_asks = re.compile(
    r"\?|^\W*(?:what|where|who|when|which|how|do|does|should|can|am|is)\b", re.IGNORECASE
)
_recalls = re.compile(
    r"(?i:\b(?:remember|recall|know|told you|say|said)\b[^.?!\n]{0,60}?\b(?:i|me|my|mine|myself)\b"
    r"|\b(?:i|me|my)\b[^.?!\n]{0,30}?\b(?:remember|recall|told you)\b)"
)
_writes_note = re.compile(
    r"(?is:\b(?:write|make|add|keep|take|create)\b[^.:\n]{0,20}?\bnotes?\b"
    r"(?:\s+(?:named|called|titled|about|on|of))?\s*(?P<title>[^:\n\[\]|]{1,200}):\s*(?P<text>.+))"
)
_finds_notes = re.compile(
    r"(?is:\b(?:search|find|look|show|list|what)\b[^.\n]{0,30}?\bnotes?\b"
    r"(?:\s+(?:for|about|on|with))?\s*(?P<words>[^?.!\n]*))"
)
_of_the_world = re.compile(
    r"(?i:\b(?:today|tonight|tomorrow|now|wear|weather|news|near\w*|local)\b)"
)
_drawing = re.compile(
    r"(?is:\b(?:draw|paint|sketch|illustrate)\b(?: me\b)?"
    r"|\b(?:picture|image|drawing|painting|photo) of\b)\s*(?P<subject>.*)"
)
_forgets_all = re.compile(
    r"(?i:\b(?:forget|delete|erase)\b[^.?!\n]{0,40}?\b(?:everything|all)\b"
    r"[^.?!\n]{0,40}?\b(?:me|my|i|memor\w+|remember\w*)\b)"
)
_agrees = re.compile(r"(?i:^\W*(?:yes|confirm\w*|i am sure|i'm sure)\b)").search
_web_search = re.compile(
    r"(?is:\b(?:search|look(?: up)?|browse|find)\b[^.?!\n]{0,80}?\b(?:web|internet|online)\b"
    r"(?:\s+(?:for|about|on))?\s*(?P<subject>.*))"
)
_sum = re.compile(r"[\d(][\d\s().,]*(?:(?:\*\*|//|[-+*/^%])[\d\s().,-]+)+")
_computes = re.compile(
    r"(?i:\b(?:comput\w+|calculat\w+|evaluate|how much|what(?:'s| is))\b)|^[\s\d().,*/^%+=?-]+$"
)
_runs = re.compile(r"(?i:\b(?:run|execute|python)\b)")
_code = re.compile(r"```(?:python|py)?\s*\n(.*?)```|`([^`\n]+)`", re.DOTALL)
_reading = re.compile(r"(?i:\b(?:read|extract|show|text|content|page)\b)")
_page = re.compile(r"(?i:\bpage (\d{1,4})\b)")


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    text: str
    files: Sequence[str]
    """The URLs of documents that the user attached."""
    tools: dict[str, ToolSpec]
    operator_files: Sequence[str] = ()
    """The URLs of documents that the operator provides."""


def asks(text: str) -> bool:
    """Return True if the text is a question, and therefore not a fact to remember."""
    return _asks.search(text) is not None


def fixed_answer(question: DemoQuestion) -> str:
    """Return a fixed answer that needs no call, or "" if there is none for the question."""
    if (
        FORGET_ALL in question.tools
        and _forgets_all.search(question.text)
        and not _agrees(question.text)
    ):
        return CONFIRM
    reads_the_web = any("web" in name or "fetch" in name for name in question.tools)
    is_missed = (
        _web_search.search(question.text) and not web_search_of(question) and not reads_the_web
    )
    return NO_WEB if is_missed else ""


def rule_calls(question: DemoQuestion) -> list[PlannedCall]:
    """Return the calls that the first applicable rule plans for the question, or []."""
    uses = (
        forgetting,
        new_notes,
        found_notes,
        facts,
        drawings,
        questions_to_documents,
        web_searches,
        computations,
        searches,
        questions_to_operator_files,
    )
    return next(filter(None, (list(use(question)) for use in uses)), [])


def forgetting(question: DemoQuestion) -> Iterator[PlannedCall]:
    if FORGET_ALL in question.tools and _forgets_all.search(question.text):
        yield PlannedCall(FORGET_ALL, {})


def new_notes(question: DemoQuestion) -> Iterator[PlannedCall]:
    """Yield a call that creates a note, for a question such as "write a note Boats: we have
    two".
    """
    found = _writes_note.search(question.text) if CHANGE_NOTES in question.tools else None
    if found is not None and (title := found["title"].strip(" .,\"'“”")):
        given = {"operation": "add", "title": title, "text": found["text"].strip()}
        yield PlannedCall(CHANGE_NOTES, given)


def found_notes(question: DemoQuestion) -> Iterator[PlannedCall]:
    found = _finds_notes.search(question.text) if SEARCH_NOTES in question.tools else None
    if found is not None:
        words = re.sub(r"(?i:\b(?:do|i|have|my|the|a)\b)", " ", found["words"]).strip(" \"'“”")
        yield PlannedCall(SEARCH_NOTES, {"searchType": "filter", "filter": " ".join(words.split())})


def facts(question: DemoQuestion) -> Iterator[PlannedCall]:
    """Yield a call that stores a memory for each sentence in which users state something about
    themselves.
    """
    for sentence in _sentence.findall(question.text) if STORE in question.tools else ():
        said = " ".join(sentence.split())
        found = next((one for one in KINDS if one.pattern.search(said)), None)
        if found and not asks(said):
            content = f"The user said: {said}"
            arguments = {"content": content, "category": found.category}
            yield PlannedCall(STORE, {**arguments, "importance": found.importance, "topics": []})


def drawings(question: DemoQuestion) -> Iterator[PlannedCall]:
    spec, found = question.tools.get(DRAW), _drawing.search(question.text)
    if spec is None or found is None:
        return
    properties: dict[str, Any] = spec.parameters.get("properties", {})
    words = found["subject"].strip(" .!?\n") or question.text.strip()
    required = (n for n in spec.parameters.get("required", ()) if n in properties)
    others = {name: default_of(properties[name], "", "") for name in required}
    name = "prompt" if "prompt" in properties else "query"
    yield PlannedCall(DRAW, {**others, name: words[:1_000]})


def questions_to_documents(question: DemoQuestion) -> Iterator[PlannedCall]:
    page = _page.search(question.text)
    reads = READ_DOCUMENT in question.tools and bool(page or _reading.search(question.text))
    for file in question.files:
        if reads or (READ_DOCUMENT in question.tools and ASK_DOCUMENT not in question.tools):
            number = int(page[1]) if page else 1
            yield PlannedCall(READ_DOCUMENT, {"file_url": file, "page": number})
        elif ASK_DOCUMENT in question.tools:
            request = question.text.strip() or "What is this document about?"
            yield PlannedCall(ASK_DOCUMENT, {"request": request, "file_url": file})


def web_searches(question: DemoQuestion) -> Iterator[PlannedCall]:
    web, found = web_search_of(question), _web_search.search(question.text)
    if web is not None and found is not None:
        subject = found["subject"].strip(" .!?:\n")
        yield PlannedCall(web, {"query": (subject or question.text.strip())[:500]})


def web_search_of(question: DemoQuestion) -> str | None:
    return next((one.name for one in question.tools.values() if is_web_search(one)), None)


def computations(question: DemoQuestion) -> Iterator[PlannedCall]:
    written = _code.search(question.text) if _runs.search(question.text) else None
    sums = _sum.search(question.text) if _computes.search(question.text) else None
    code = (written[1] or written[2]) if written else python_of(sums[0]) if sums else ""
    if code and RUN_CODE in question.tools:
        yield PlannedCall(RUN_CODE, {"title": "Calculation", "code": code})
    elif code and (name := find_tool(EXECUTE_CODE, question.tools)):
        yield PlannedCall(name, {"code": code, "session_id": ""})


def find_tool(name: str, tools: Iterable[str]) -> str:
    """Return the name under which a tool is offered, or "" if it is not offered. The tool's name may
    follow the name of its toolset, as in `toolset_tool`.
    """
    return next((one for one in tools if one == name or one.endswith(f"_{name}")), "")


def python_of(written: str) -> str:
    spelled = written.replace("^", "**").replace(",", "")
    return spelled.strip().rstrip(".")


def searches(question: DemoQuestion) -> Iterator[PlannedCall]:
    """Yield a call that searches memories, if the question is about the user."""
    is_personal = _about_oneself.search(question.text) or _recalls.search(question.text)
    if SEARCH in question.tools and asks(question.text) and is_personal:
        yield PlannedCall(SEARCH, {"query": question.text.strip()[:500], "limit": MOST_FOUND})


def questions_to_operator_files(question: DemoQuestion) -> Iterator[PlannedCall]:
    """Yield a call that answers the question from all of the operator's files."""
    if ASK_DOCUMENT in question.tools and question.operator_files and asks(question.text):
        files = list(question.operator_files[:MOST_FILES])
        yield PlannedCall(ASK_DOCUMENT, {"request": question.text.strip(), "file_urls": files})


def next_calls(
    question: DemoQuestion, made: Sequence[str], results: Sequence[str]
) -> list[PlannedCall]:
    """Return a web search call if the question is about the user's surroundings and only memories
    have been searched so far, otherwise [].
    """
    web = web_search_of(question)
    is_known = bool(made) and all(name == SEARCH for name in made)
    if web is None or not is_known or not _of_the_world.search(question.text):
        return []
    places = [str(c["place"]) for text in results for c in all_clues(text) if c.get("zone")]
    query = " ".join([question.text.strip()[:500], *dict.fromkeys(places)])
    return [PlannedCall(web, {"query": query})]


def is_web_search(spec: ToolSpec) -> bool:
    words = f"{spec.name} {spec.description}".casefold()
    parameters = spec.parameters.get("properties", {})
    is_of_the_web = "web" in words or "duckduckgo" in words
    return "search" in spec.name and is_of_the_web and "query" in parameters

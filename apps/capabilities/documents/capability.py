"""Defines two tools: one returns a document's text, the other uses documents to answer requests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from django.utils.translation import gettext_lazy

from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.documents.answers import DocumentAnswers
from apps.capabilities.documents.attached_files import SearchableFiles, attached_contexts
from apps.capabilities.documents.document_reader import open_document, run_documents
from apps.capabilities.documents.names import FILE_URL, FILE_URLS, SOURCE, USUAL, ToolNames
from apps.capabilities.documents.scans import Vision
from apps.capabilities.registry import Capability, Contribution, Open, Opening, PreparedTool
from apps.capabilities.wrappers.internal import (
    IN_TITLE,
    PlatformTool,
    internal_tool,
    parameters,
    show_result,
    text_parameter,
)
from apps.capabilities.wrappers.value_texts import STAGE_CHARACTERS, shorten_text
from apps.errors import InvalidParameter
from apps.manifest.features.files import Documents
from apps.manifest.manifest import Manifest
from apps.manifest.toolsets.parameters import (
    ArrayParameter,
    FunctionParameters,
    Parameter,
    SimpleParameter,
)
from apps.manifest.toolsets.parameters import SimpleSchema as Items
from apps.workspace.loading.shared_loads import rules_of

LONGEST_SECONDS = 3600
"""The timeout for a whole answer, in seconds. The manifest's timeout is only an idle timeout."""
PAGE_CHARACTERS = 10_000
"""The length of one page of text in characters, about 2,500 tokens."""
FORMATS = "PDF, Word, Excel, PowerPoint, EPUB, RTF, CSV, HTML and plain text"
ADDRESS = "The URL of a document: files/… as in attachments, or an http(s) URL."
EXTRACTION = (
    f"Reads the text of a document ({FORMATS}). Long texts are split into pages of {PAGE_CHARACTERS:,} "
    "characters. Each page ends with the number of pages."
)
ANSWER = (
    f"Answers a request from the content of documents ({FORMATS}), with numbered sources. It "
    "finds the passages that fit, so the documents may be long. It does not see this "
    "conversation, so put everything that it needs into the request."
)
ATTACHED = (
    " Without a URL it answers from all files that the operator of this application made "
    "available. Do that unless you know which file has the answer."
)
CITATIONS = (
    "Results of the tool {tool} have numbers in brackets, such as [1], which tie a statement to "
    "its source. When you use such a statement, keep its numbers directly after it; never "
    "change, merge or invent one. The sources are shown next to your answer, so do not list "
    "them."
)


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.documents if manifest.features is not None else None
    if wanted is None or not wanted.enabled:
        return None
    names = SOURCE if wanted.source_names else USUAL
    extraction, usual = extraction_tool(manifest, names), answer_tool(manifest, wanted, names)
    contexts = attached_contexts(manifest)
    searching = answer_tool(manifest, wanted, names, searches_attached=True) if contexts else usual
    instructions = (CITATIONS.format(tool=names.answer),)
    vision = vision_of(manifest, wanted)

    @asynccontextmanager
    async def open_documents(opening: Opening) -> AsyncIterator[Contribution]:
        corpus = opening.workspace.corpus() if contexts else None
        attached = None if corpus is None else SearchableFiles(corpus, contexts)
        async with run_documents(opening, vision, attached):
            answer = usual if attached is None else searching
            bound = extraction.bind(opening), answer.bind(opening)
            yield Contribution(bound, instructions=instructions)

    return open_documents


def vision_of(manifest: Manifest, wanted: Documents) -> Vision:
    named, own = wanted.vision_deployment_id, manifest.orchestrator.deployment.id
    return Vision(named or own, named is not None, rules_of(manifest).seconds)


def extraction_tool(manifest: Manifest, names: ToolNames) -> PreparedTool:
    page = SimpleParameter(
        type="integer", description="The page of the text to return, starting at 1.", default=1
    )
    taken = parameters(
        {FILE_URL: text_parameter(ADDRESS, display=IN_TITLE), names.page: page}, FILE_URL
    )
    return internal_tool(
        manifest,
        PlatformTool(
            names.extraction,
            EXTRACTION,
            taken,
            gettext_lazy("Reading a document:"),
            "read-only",
            addresses=frozenset({FILE_URL}),
        ),
        partial(extract_text, names),
        seconds=LONGEST_SECONDS,
    )


async def extract_text(names: ToolNames, opening: Opening, invocation: Invocation) -> ToolResult:
    """Return one page of a document's text. Raises `InvalidParameter` if the page does not exist,
    or any error that `open_document` raises.
    """
    arguments = invocation.arguments
    document = await open_document(opening, FILE_URL, str(arguments[FILE_URL]), invocation.stage)
    text = document.text.text
    page = max(int(arguments.get(names.page) or 1), 1)
    total = max(-(-len(text) // PAGE_CHARACTERS), 1)
    if page > total:
        pages = "1 page" if total == 1 else f"{total} pages"
        problem = f"{document.name!r} has {pages} of {PAGE_CHARACTERS:,} characters."
        raise InvalidParameter(names.page, problem)
    content = text[(page - 1) * PAGE_CHARACTERS : page * PAGE_CHARACTERS]
    if total > 1:
        content += footer(page, total)
    content = content or f"{document.name!r} has no text."
    show_result(invocation, shorten_text(content, STAGE_CHARACTERS))
    return ToolResult(content)


def footer(page: int, total: int) -> str:
    return f"\n\n---\nPage {page} of {total}"


def answer_tool(
    manifest: Manifest, wanted: Documents, names: ToolNames, *, searches_attached: bool = False
) -> PreparedTool:
    """Return the tool that answers questions about documents.

    If `searches_attached` is True, a call without a file searches the operator's files.
    """
    work = DocumentAnswers(
        wanted, manifest.orchestrator.deployment.id, names, rules_of(manifest).seconds
    )
    description = f"{ANSWER}{ATTACHED}" if searches_attached else ANSWER
    return internal_tool(
        manifest,
        PlatformTool(
            names.answer,
            description,
            answer_parameters(names, needs_file=not searches_attached),
            gettext_lazy("Searching in documents:"),
            "read-only",
            addresses=frozenset({FILE_URL, FILE_URLS}),
        ),
        work.answer,
        seconds=LONGEST_SECONDS,
    )


def answer_parameters(names: ToolNames, *, needs_file: bool) -> FunctionParameters:
    request = text_parameter(
        "The question to answer, or the information to find.", display=IN_TITLE
    )
    several = ArrayParameter(
        type="array", items=Items(type="string"), description=f"Several. {ADDRESS}"
    )
    taken: dict[str, Parameter] = {names.request: request}
    if names.takes_one_file:
        taken[FILE_URL] = text_parameter(ADDRESS)
    taken[FILE_URLS] = several
    has_choice = names.takes_one_file or not needs_file
    required = (names.request,) if has_choice else (names.request, FILE_URLS)
    return parameters(taken, *required)


documents = Capability("documents", frozenset({"features.documents"}), prepare)

"""Tools for documents: one reads their text, one answers a request from them with sources."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from apps.capabilities.documents.answers import DocumentAnswers
from apps.capabilities.documents.attached_files import AttachedFiles, attached_contexts
from apps.capabilities.documents.document_reader import run_documents
from apps.capabilities.documents.extraction import PAGE_CHARACTERS, extract_text
from apps.capabilities.documents.names import FILE_URL, FILE_URLS, SOURCE, USUAL, ToolNames
from apps.capabilities.documents.scans import Vision
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.wrappers.internal import (
    IN_TITLE,
    internal_tool,
    parameters,
    text_parameter,
)
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.manifest.features import Documents
from apps.manifest.manifest import Manifest
from apps.manifest.parameters import ArrayParameter, FunctionParameters, Parameter, SimpleParameter
from apps.manifest.parameters import SimpleSchema as Items
from apps.workspace.loading.shared_loads import rules_of

LONGEST_SECONDS = 3600
"""Of a whole answer, as of a call of a deployment; the application limits each silence."""
FORMATS = "PDF, Word, Excel, PowerPoint, EPUB, RTF, CSV, HTML and plain text"
ADDRESS = "The address of a document: files/… as in attachments, or an http(s) URL."
EXTRACTION = (
    f"Reads the text of a document ({FORMATS}). A long text comes in pages of {PAGE_CHARACTERS:,} "
    "characters; the end of each says how many there are."
)
ANSWER = (
    f"Answers a request from the content of documents ({FORMATS}), with numbered sources. It finds "
    "the passages that fit, so the documents may be long. It knows nothing of this conversation: "
    "write everything that it has to know into the request."
)
ATTACHED = (
    " Without an address it answers from all files together that the operator of this application "
    "made available: do that unless you know in which file the answer is."
)
CITATIONS = (
    "Results of the tool {tool} have numbers in brackets, such as [1], which tie a statement to its "
    "source. When you use such a statement, keep its numbers right behind it; never change, merge "
    "or invent one. The sources are shown beside your answer, so do not list them."
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
        attached = None if corpus is None else AttachedFiles(corpus, contexts)
        async with run_documents(opening, vision, attached):
            answer = usual if attached is None else searching
            bound = extraction.bind(opening), answer.bind(opening)
            yield Contribution(bound, instructions=instructions)

    return open_documents


def vision_of(manifest: Manifest, wanted: Documents) -> Vision:
    named, own = wanted.vision_deployment_id, manifest.orchestrator.deployment.id
    return Vision(named or own, named is not None, rules_of(manifest).seconds)


def extraction_tool(manifest: Manifest, names: ToolNames) -> PreparedTool:
    page = SimpleParameter(type="integer", description="Which page of the text, from 1.", default=1)
    taken = parameters(
        {FILE_URL: text_parameter(ADDRESS, display=IN_TITLE), names.page: page}, FILE_URL
    )
    return internal_tool(
        manifest,
        (names.extraction, EXTRACTION, taken),
        partial(extract_text, names),
        "Reading a document:",
        seconds=LONGEST_SECONDS,
        is_repeatable=True,
        addresses=frozenset({FILE_URL}),
    )


def answer_tool(
    manifest: Manifest, wanted: Documents, names: ToolNames, *, searches_attached: bool = False
) -> PreparedTool:
    """`searches_attached`: without a file, it searches those that the operator has attached."""
    work = DocumentAnswers(
        wanted, manifest.orchestrator.deployment.id, names, rules_of(manifest).seconds
    )
    description = f"{ANSWER}{ATTACHED}" if searches_attached else ANSWER
    return internal_tool(
        manifest,
        (names.answer, description, answer_parameters(names, needs_file=not searches_attached)),
        work.answer,
        "Searching in documents:",
        seconds=LONGEST_SECONDS,
        is_repeatable=True,
        addresses=frozenset({FILE_URL, FILE_URLS}),
    )


def answer_parameters(names: ToolNames, *, needs_file: bool) -> FunctionParameters:
    request = text_parameter("The question, or what is to be found out.", display=IN_TITLE)
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

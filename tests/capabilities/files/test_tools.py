"""File tools of the model, in both workspaces."""

import asyncio
from dataclasses import replace

import pytest

from apps.agent.events import Event, StageOpened
from apps.agent.messages import Attachment
from apps.agent.tools import ToolResult
from apps.capabilities.files import documents
from apps.capabilities.files.capability import files
from apps.capabilities.files.documents import DOCUMENTS
from apps.capabilities.files.tools import KINDS
from apps.documents.process import Bounds, Extract, Order, extract
from apps.workspace.loading.files import LoadedFile
from apps.workspace.local.workspace import LocalWorkspace
from tests.capabilities.files.agents import CALLER, agent_on
from tests.capabilities.manifests import manifest, stage_text
from tests.contract import proves
from tests.documents.samples import docx, pdf, xlsx
from tests.tables import each_row


@proves("14.5")
async def test_a_file_is_written_and_its_lines_are_read(workspace):
    agent = await agent_on(workspace)

    written = await agent.call("write", path="notes/to do.md", content="one\ntwo\nthree\n")

    place = f"{await agent.files.home()}notes/to%20do.md"
    assert written == ToolResult(
        "Created notes/to do.md (14 bytes).",
        "text/plain",
        attachments=(Attachment("text/plain", "to do.md", url=place),),
    )
    assert (
        await agent.use("read_lines", path="notes/to do.md", start_line=1, end_line=9)
        == "notes/to do.md, lines 1 to 2 of 3:\ntwo\nthree"
    )
    assert (
        await agent.use("read_lines", path=place, start_line=0, end_line=1)
        == "notes/to do.md, lines 0 to 0 of 3:\none"
    )


@proves("14.5")
async def test_a_folder_is_listed_as_deep_as_it_is_asked_for(workspace):
    agent = await agent_on(workspace, agent_home_dir="desk/")
    for name in ("b.txt", "a/one.md", "a/deep/two.md", "a/deep/er/three.md"):
        await agent.use("write", path=name, content=name)
    await agent.keep("elsewhere.txt", b"1")

    assert await agent.use("list", path="") == "- a/\n5 b.txt"
    assert await agent.use("list", path="a") == "- a/deep/\n8 a/one.md"
    assert await agent.use("list", path="./", max_depth=2) == (
        "- a/\n- a/deep/\n8 a/one.md\n5 b.txt"
    )
    assert await agent.use("list", path="/", max_depth=10) == (
        "- a/\n- a/deep/\n- a/deep/er/\n18 a/deep/er/three.md\n13 a/deep/two.md\n"
        "8 a/one.md\n5 b.txt"
    )
    assert await agent.use("list", path="nothing/") == "(empty)"
    home = await agent.files.home()
    assert await agent.use("list", path=home) == f"- ./\n1 {home}elsewhere.txt"


@proves("14.5")
async def test_a_file_is_not_replaced_unless_that_is_wanted(workspace):
    agent = await agent_on(workspace)
    await agent.use("write", path="a.txt", content="old")
    assert await agent.use("read_lines", path="a.txt", start_line=0, end_line=1) == (
        "a.txt, lines 0 to 0 of 1:\nold"
    )

    assert await agent.refused("write", path="a.txt", content="new") == (
        "Parameter path is invalid: 'a.txt' already exists. "
        "Set overwrite=True to replace it, or use another path."
    )
    assert await agent.use("write", path="a.txt", content="new", overwrite=True) == (
        "Replaced a.txt (3 bytes)."
    )
    assert await agent.use("write", path="b.txt", content="x", overwrite=True) == (
        "Created b.txt (1 byte)."
    )
    assert await agent.use("read_lines", path="a.txt", start_line=0, end_line=1) == (
        "a.txt, lines 0 to 0 of 1:\nnew"
    )


@proves("14.5")
async def test_one_place_of_a_file_is_edited(workspace):
    agent = await agent_on(workspace)
    await agent.use("write", path="a.md", content="one\ntwo\ntwo\n", content_type="text/markdown")
    await agent.use("search", path="a.md", pattern="one")

    edited = await agent.call("edit", path="a.md", old_string="one\ntwo", new_string="1\n2")

    assert edited.content == "Edited a.md at line 0 (now 8 bytes)."
    assert [attachment.type for attachment in edited.attachments] == ["text/markdown"]
    assert await agent.use("read_lines", path="a.md", start_line=0, end_line=9) == (
        "a.md, lines 0 to 2 of 3:\n1\n2\ntwo"
    )
    found = await agent.files.read(f"{await agent.files.home()}a.md")
    assert found.content == b"1\n2\ntwo\n"


@proves("14.5")
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"old_string": "none"}, "Parameter old_string is invalid: it was not found in the file"),
        (
            {"old_string": "aa"},
            "Parameter old_string is invalid: it occurs more than once in the file",
        ),
        ({"old_string": ""}, "Parameter old_string is invalid: it is empty"),
        (
            {"old_string": "b", "new_string": "b"},
            "Parameter new_string is invalid: it is the same as old_string.",
        ),
        (
            {"path": "none.txt"},
            "Parameter path is invalid: The file 'files/user-1/none.txt' does not exist",
        ),
        ({"path": "image.png"}, "Parameter path is invalid: the file is not UTF-8 text"),
    ],
)
async def test_an_edit_that_is_not_clear_changes_nothing(own, arguments, problem):
    agent = await agent_on(own)
    kept = await agent.keep("a.txt", b"aaa b")
    await agent.keep("image.png", b"\x89PNG\0")

    told = await agent.refused(
        "edit", **{"path": "a.txt", "old_string": "b", "new_string": "x", **arguments}
    )

    assert told.startswith(problem)
    assert (await agent.files.read(kept)).content == b"aaa b"


async def test_line_ends_of_windows_do_not_matter_and_stay(own):
    agent = await agent_on(own)
    kept = await agent.keep("a.txt", b"one\r\ntwo\r\nthree")

    await agent.use("edit", path="a.txt", old_string="one\ntwo", new_string="1\n2")

    assert (await agent.files.read(kept)).content == b"1\r\n2\r\nthree"


@proves("14.5")
async def test_two_who_edit_at_once_lose_nothing(workspace):
    agent, other = await agent_on(workspace), await agent_on(workspace)
    await agent.use("write", path="a.txt", content="left right")

    await asyncio.gather(
        agent.use("edit", path="a.txt", old_string="left", new_string="LEFT"),
        other.use("edit", path="a.txt", old_string="right", new_string="RIGHT"),
    )

    found = await agent.files.read(f"{await agent.files.home()}a.txt")
    assert found.content == b"LEFT RIGHT"


@proves("14.5")
async def test_of_two_who_create_a_file_at_once_one_is_told(workspace):
    agent, other = await agent_on(workspace), await agent_on(workspace)

    outcomes = await asyncio.gather(
        agent.use("write", path="a.txt", content="1"),
        other.use("write", path="a.txt", content="2"),
        return_exceptions=True,
    )

    told = sorted(str(outcome) for outcome in outcomes)
    assert told[0] == "Created a.txt (1 byte)."
    assert "already exists" in told[1]


@proves("14.5")
async def test_files_are_copied_moved_and_deleted(workspace):
    agent = await agent_on(workspace, agent_home_dir="desk/")
    outside = await agent.keep("plan.md", b"plan")
    await agent.use("write", path="old.txt", content="old")
    await agent.use("read_lines", path="old.txt", start_line=0, end_line=1)

    copied = await agent.use("copy", source=outside, destination="plan.md")
    moved = await agent.use("move", source="old.txt", destination="new/a b.txt")

    assert copied == f"Copied {outside} to plan.md."
    assert moved == "Moved old.txt to new/a b.txt."
    assert await agent.use("list", path="", max_depth=5) == "- new/\n3 new/a b.txt\n4 plan.md"
    assert "does not exist, or you have no access" in await agent.refused(
        "read_lines", path="old.txt", start_line=0, end_line=1
    )
    assert await agent.refused("copy", source=outside, destination="new/a b.txt") == (
        "Parameter destination is invalid: 'new/a b.txt' already exists. "
        "Set overwrite=True to replace it, or use another path."
    )
    await agent.use("copy", source=outside, destination="new/a b.txt", overwrite=True)
    assert await agent.use("read_lines", path="new/a b.txt", start_line=0, end_line=1) == (
        "new/a b.txt, lines 0 to 0 of 1:\nplan"
    )
    assert await agent.use("delete", path="new/a%20b.txt") == "Deleted new/a%20b.txt."
    assert "does not exist, or you have no access" in await agent.refused(
        "delete", path="new/a b.txt"
    )
    assert await agent.refused("move", source="plan.md", destination="plan.md") == (
        "Parameter destination is invalid: it is the same as the source."
    )


@proves("14.5")
async def test_files_are_found_by_their_names(workspace):
    agent = await agent_on(workspace)
    for name in ("a.md", "notes/b.md", "notes/deep/c.md", "notes/deep/c.txt"):
        await agent.use("write", path=name, content="1")

    assert await agent.use("find", pattern="*.md") == "1 a.md\n1 notes/b.md\n1 notes/deep/c.md"
    assert await agent.use("find", pattern="notes/*.md") == "1 notes/b.md"
    assert await agent.use("find", pattern="**/c.*") == "1 notes/deep/c.md\n1 notes/deep/c.txt"
    assert await agent.use("find", pattern="?.md", path="notes", max_depth=1) == "1 notes/b.md"
    assert await agent.use("find", pattern="*.pdf") == "(no file matches)"


@proves("14.5")
async def test_a_folder_is_searched(workspace):
    agent = await agent_on(workspace, max_files_scanned=3)
    for name, content in (
        ("a.md", "Tea\nmilk\nTEA"),
        ("b/c.md", "no\ntea"),
        ("b/d.txt", "tea"),
        ("z.txt", "tea"),
    ):
        await agent.use("write", path=name, content=content)

    cut = (
        "Only the first 3 of 4 files were searched. "
        "Use a folder below this one, or set name_filter."
    )
    assert await agent.use("search", path="/", pattern="tea") == (
        f"b/c.md:\n1: tea\nb/d.txt:\n0: tea\n{cut}"
    )
    search = {"path": "", "pattern": "tea", "case_insensitive": True, "name_filter": "*.md"}
    assert await agent.use("search", **search) == "a.md:\n0: Tea\n2: TEA\nb/c.md:\n1: tea"
    assert await agent.use("search", **search, output_mode="count") == "2 a.md\n1 b/c.md"
    assert await agent.use("search", **search, output_mode="files_with_matches") == "a.md\nb/c.md"
    assert await agent.use("search", **search, max_depth=1, context_lines=1) == (
        "a.md:\n0: Tea\n1- milk\n2: TEA"
    )
    assert await agent.use("search", path="b/", pattern="coffee") == "Not found in 2 files."


@proves("14.5")
async def test_lines_around_what_was_found_are_shown_once(own):
    agent = await agent_on(own)
    await agent.use("write", path="a.txt", content="\n".join("abxcdefxyxh"))

    assert await agent.use("search", path="a.txt", pattern="x", context_lines=1) == (
        "a.txt: 3 lines of 11\n1- b\n2: x\n3- c\n--\n6- f\n7: x\n8- y\n9: x\n10- h"
    )
    assert await agent.use("search", path="a.txt", pattern="q") == ("a.txt: not found in 11 lines.")


@proves("14.5")
async def test_of_too_much_that_was_found_the_beginning_is_shown(own):
    agent = await agent_on(own)
    await agent.keep("a.txt", b"\n".join(b"tea %d" % n for n in range(9_000)))

    found = await agent.use("search", path="a.txt", pattern="tea")

    assert found.startswith("a.txt: 9,000 lines of 9,000\n0: tea 0\n1: tea 1\n")
    assert found.endswith("\n… (there are more; search for a rarer text)")
    assert 39_000 < len(found) < 40_100


@proves("14.5")
async def test_documents_are_read_and_searched_as_text(own):
    agent = await agent_on(own)
    report = await agent.keep("report.pdf", pdf("Tea costs 2", "", "Cake costs 3"))
    await agent.keep("prices.xlsx", xlsx())
    await agent.keep("plan.docx", docx())
    await agent.keep("image.png", b"\x89PNG\0\0")

    assert await agent.use("read_lines", path=report, start_line=0, end_line=99) == (
        "report.pdf, lines 0 to 4 of 5:\n[page 1 of 3]\nTea costs 2\n"
        "[page 2: no text; it may be a scan]\n[page 3 of 3]\nCake costs 3"
    )
    assert await agent.use("search", path="", pattern="cake", case_insensitive=True) == (
        "prices.xlsx:\n3: Cake\t3\nreport.pdf:\n4: Cake costs 3\n"
        "1 file could not be read as text: image.png"
    )
    assert await agent.refused("read_lines", path="image.png", start_line=0, end_line=9) == (
        "Parameter path is invalid: 'image.png' cannot be read: it is neither text nor a "
        "supported document format."
    )


@proves("14.5")
async def test_more_lines_than_there_is_room_for_are_asked_for_one_after_the_other(own):
    agent = await agent_on(own)
    await agent.keep("long.txt", b"\n".join([b"x" * 60_000, b"y" * 60_000, b"z" * 120_000]))

    first = await agent.use("read_lines", path="long.txt", start_line=0, end_line=9)
    third = await agent.use("read_lines", path="long.txt", start_line=2, end_line=9)

    assert first.startswith("long.txt, lines 0 to 0 of 3:\nxxx")
    assert first.endswith("x\n… (cut: continue with start_line=1)")
    assert third.endswith("z… (cut: 20,000 more characters in this line)")


@each_row(
    ("tool", "arguments", "problem"),
    [
        ("read_lines", {"start_line": 3, "end_line": 9}, "start_line is invalid: a.txt has 3 lines."),
        ("read_lines", {"start_line": -1, "end_line": 9}, "start_line is invalid: it must be 0 or more"),
        ("read_lines", {"start_line": 2, "end_line": 2}, "end_line is invalid: it must be greater than start_line"),
        ("search", {"pattern": ""}, "pattern is invalid: it must have 1 to 500 characters."),
        ("search", {"pattern": "a\nb"}, "pattern is invalid: it must not contain a line break"),
        ("search", {"pattern": "a", "context_lines": -1}, "context_lines is invalid: it must be a number"),
        ("list", {"path": "", "max_depth": 11}, ("max_depth is invalid: it must be a number from 1 "
                                                "to 10.")),
        ("find", {"pattern": "/"}, "pattern is invalid: it must be a path pattern"),
        ("write", {"content": "a", "content_type": "a/b\r\nX: y"}, "content_type is invalid:"),
        ("write", {"content": "\ud800"}, "content is invalid: it contains invalid Unicode"),
        ("read_lines", {"path": "https://x/y", "start_line": 0, "end_line": 1}, "path is invalid: 'https://x/y' cannot be used: it is a URL"),
    ],
)  # fmt: skip
async def test_arguments_that_make_no_sense_are_told(own, tool, arguments, problem):
    agent = await agent_on(own)
    await agent.keep("a.txt", b"1\n2\n3")

    told = await agent.refused(tool, **{"path": "a.txt", **arguments})

    assert told.startswith(f"Parameter {problem}")


@proves("14.5")
async def test_anothers_files_are_as_if_missing(own):
    other = LocalWorkspace(replace(CALLER, bucket="user-2"))
    secret = (await other.files.keep("secret.txt", b"secret", "text/plain")).path
    agent = await agent_on(own)

    assert await agent.refused("read_lines", path=secret, start_line=0, end_line=1) == (
        f"Parameter path is invalid: The file '{secret}' does not exist, or you have no access."
    )
    assert await agent.refused("copy", source=secret, destination="a.txt") == (
        f"Parameter source is invalid: The file '{secret}' does not exist, or you have no access."
    )
    assert "does not exist, or you have no access" in await agent.refused(
        "list", path="files/user-2/"
    )


@proves("14.5")
async def test_a_call_is_shown_with_what_is_written_and_what_came_of_it(own):
    agent = await agent_on(own)
    events: list[Event] = []

    await agent.call("write", events.append, path="a.md", content="# Hi")

    assert [event.title for event in events if isinstance(event, StageOpened)] == ["Write file"]
    assert stage_text(events) == (
        "> #### Request:\n\r***path:*** a.md\n\r***content:*** \n```\n# Hi\n```\n\n\r"
        "> #### Result:\n\nCreated a.md (4 bytes).\n"
    )


@proves("14.5")
def test_titles_and_names_are_those_that_clients_know():
    assert [(f"internal_file_{name}", kind.title) for name, kind in KINDS.items()] == [
        ("internal_file_list", "List files"),
        ("internal_file_read_lines", "Read file lines"),
        ("internal_file_search", "Search in file"),
        ("internal_file_find", "Find files"),
        ("internal_file_write", "Write file"),
        ("internal_file_edit", "Edit file"),
        ("internal_file_delete", "Delete file"),
        ("internal_file_copy", "Copy file"),
        ("internal_file_move", "Move file"),
    ]


@proves("14.5")
@pytest.mark.parametrize("features", [None, {}, {"dial_files": None}])
def test_applications_that_do_not_ask_have_no_file_tools(features):
    assert files.prepare(manifest(features=features)) is None


@proves("14.5")
async def test_of_a_long_pdf_the_pages_that_are_needed_are_read_and_no_more(own):
    agent = await agent_on(own)
    await agent.keep("long.pdf", pdf(*(f"Text {n}" for n in range(1, 41))))

    assert await agent.use("read_lines", path="long.pdf", start_line=2, end_line=4) == (
        "long.pdf, lines 2 to 3 of at least 32 (16 of 40 pages are read; ask for later lines to "
        "read more):\n[page 2 of 40]\nText 2"
    )
    assert await agent.use("search", path="long.pdf", pattern="Text 39") == (
        "long.pdf: 1 line of 80\n77: Text 39"
    )
    assert await agent.use("read_lines", path="long.pdf", start_line=78, end_line=99) == (
        "long.pdf, lines 78 to 79 of 80:\n[page 40 of 40]\nText 40"
    )
    assert await agent.refused("read_lines", path="long.pdf", start_line=80, end_line=90) == (
        "Parameter start_line is invalid: long.pdf has 80 lines."
    )


@proves("14.5")
async def test_what_could_not_be_read_in_time_is_told_and_read_on_later(own):
    agent = await agent_on(own)
    await agent.keep("slow.pdf", pdf("One", "Two"))
    await agent.use("read_lines", path="slow.pdf", start_line=0, end_line=1)
    # As if the time were over after the first page, and again for each later page.
    (found,) = agent.opening.findings[DOCUMENTS].documents.values()
    found.lines, found.pages, found.is_complete = found.lines[:2], 1, False
    found.content = pdf("One", "Two")
    found.extract = nothing_in_time

    assert await agent.use("read_lines", path="slow.pdf", start_line=2, end_line=4) == (
        "slow.pdf: so far there are 2 lines, 1 of 2 pages are read; ask for later lines to read "
        "more."
    )
    rest = "Only 1 of 2 pages were read in time. Search again to continue from there."
    assert await agent.use("search", path="slow.pdf", pattern="One") == (
        f"slow.pdf: 1 line of 2\n1: One\n{rest}"
    )
    assert await agent.use("search", path="slow.pdf", pattern="Two") == (
        f"slow.pdf: not found in 2 lines.\n{rest}"
    )
    assert await agent.use("search", path="", pattern="Two") == (
        "Not found in 1 file.\nNot read to the end in time: slow.pdf (1 of 2 pages). Search "
        "again to continue from there."
    )
    found.extract = extract
    assert await agent.use("search", path="slow.pdf", pattern="Two") == (
        "slow.pdf: 1 line of 4\n3: Two"
    )


async def nothing_in_time(content: bytes, order: Order, bounds: Bounds) -> Extract:
    """So little time is left afterwards that no other process is started."""
    return Extract((), 2, "time")


async def test_texts_are_kept_while_there_is_room_for_them(monkeypatch):
    monkeypatch.setattr(documents, "CACHE_LIMIT", 10)
    kept = documents.RunDocumentCache()
    files = [LoadedFile(name, "text/plain", b"12345") for name in "abc"]

    found = [kept.get(file, "ada") for file in files]
    for document in found:
        await document.until()
    again = kept.get(files[0], "ada")
    kept.drop_oldest()

    assert again is found[0]
    assert list(kept.documents.values()) == [found[2], found[0]]
    large = kept.get(LoadedFile("d", "text/plain", b"1" * 100), "ada")
    kept.drop_oldest()
    assert list(kept.documents.values()) == [large]

"""Measure the chat page in a browser.

    python -m benchmarks.page

The measures of the browser are the first load, a conversation of 10,000 messages, typing in it, the
first feedback after sending, and a reload during an answer. The measures of the server are its
start, its memory, and what an answer writes and sends.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from benchmarks import kept_runs
from benchmarks.goals import is_reached
from benchmarks.processes import Process, free_port, start
from benchmarks.systems.starts import LOAD_CORE
from tests.browsers import chromium
from tests.sites.serving import Site, serve_process

SLUG = "page"
MESSAGES = 10_000
BEHIND = 10_000
"""Characters of an answer that arrived before the reload."""
ROUNDS = 5
RELOADS = 9
"""The delay of each reload differs from the next by a third."""
CONVERSATION = """
from apps.doors.sessions import session_bucket
from tests.chat.long_conversations import add_turns
found = Conversation.objects.create(
    application=Application.objects.get(slug=slug), owner=session_bucket(session), title="Long"
)
add_turns(found, count)
result = str(found.pk)
"""
NOTE_TEXT = """
(() => {
  const look = () => {
    const text = [...document.querySelectorAll("chat-answer")].at(-1)?.querySelector(".answer-text")?.textContent ?? "";
    if (text.length < (Number(sessionStorage.wanted) || 1)) requestAnimationFrame(look);
    else window.shownAt = performance.now();
  };
  look();
})()
"""
NOTE_SIGN = """
() => {
  let sent = 0;
  addEventListener("keydown", (event) => { if (event.key === "Enter") sent = event.timeStamp; }, true);
  const look = () => {
    if (sent && document.querySelector(".working")) window.signAfter ??= performance.now() - sent;
    if (sent && document.querySelector("chat-answer")) window.begunAfter = performance.now() - sent;
    else requestAnimationFrame(look);
  };
  look();
}
"""
NOTE_TYPING = """
() => {
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.slowest = Math.max(window.slowest, duration);
  }).observe({ type: "event", durationThreshold: 16 });
}
"""
LOADED = """
() => {
  const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  const size = (some) => some.reduce((sum, one) => sum + one.encodedBodySize, 0) / 1000;
  return { requests: all.length, all: size(all), script: size(all.filter(({ name }) => name.endsWith(".js"))) };
}
"""


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    reached = [is_reached(*one) for one in (*measured(), *answer_goals())]
    return 0 if all(reached) else 1


def measured() -> Iterator[tuple[str, float, float, str]]:
    """Return name, value, maximum and unit of each measure."""
    with tempfile.TemporaryDirectory(prefix="page-") as folder, fake_model() as port:
        begun = time.monotonic()
        served = serve_process(Path(folder), "quickapps_site.serve")
        with served as (site, process), a_browser() as browser:
            yield "start to ready", time.monotonic() - begun, 10, "s"
            values = {"url": f"http://127.0.0.1:{port}", "slug": SLUG}
            site.shell(kept_runs.PREPARE, **values)
            context = browser.new_context(base_url=site.url)
            page = context.new_page()
            yield from first_load(page)
            yield "memory of a server that is idle", Process(process, 0).memory() / 1e6, 250, "MB"
            yield from long_conversation(site, context, page)
            page.close()  # its memory still contains the 10,000 messages
            yield from going_answer(context.new_page())


@contextmanager
def fake_model() -> Iterator[int]:
    port = free_port()
    model = start(["-m", "benchmarks.fake_llm", "--port", str(port)], port=port, core=LOAD_CORE)
    try:
        yield port
    finally:
        model.stop()


@contextmanager
def a_browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        executable = chromium.find(playwright.chromium.executable_path)
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield browser
        browser.close()


def first_load(page: Page) -> Iterator[tuple[str, float, float, str]]:
    page.goto(f"/chat/{SLUG}/", wait_until="networkidle")
    found = page.evaluate(LOADED)
    yield "first load, compressed", found["all"], 250, "kB"
    yield "scripts of it", found["script"], 120, "kB"
    yield "requests of it", found["requests"], 30, "requests"


def long_conversation(
    site: Site, context: BrowserContext, page: Page
) -> Iterator[tuple[str, float, float, str]]:
    [session] = [one["value"] for one in context.cookies() if one["name"] == "sessionid"]
    key = site.shell(CONVERSATION, slug=SLUG, session=session, count=MESSAGES // 2)
    page.add_init_script(NOTE_TEXT)
    opened = [shown_at(page, f"/chat/{SLUG}/{key}/") for _ in range(ROUNDS)]
    yield f"opening {MESSAGES:,} messages", statistics.median(opened), 300, "ms"
    page.evaluate(NOTE_TYPING)
    slowest = statistics.median(slowest_letter(page) for _ in range(ROUNDS))
    yield "a letter typed in it, slowest of 19", slowest, 16, "ms"


def slowest_letter(page: Page) -> float:
    page.get_by_label("Your question").fill("")
    page.evaluate("window.slowest = 0")
    page.get_by_label("Your question").press_sequentially("The quick brown fox", delay=60)
    return float(page.evaluate("window.slowest"))


def shown_at(page: Page, address: str) -> float:
    page.goto(address)
    return shown_after(page)


def shown_after(page: Page) -> float:
    shown = float(wait_for(page, "window.shownAt"))
    # no user opens the next conversation while this one is loading
    page.wait_for_load_state("networkidle")
    return shown


def going_answer(page: Page) -> Iterator[tuple[str, float, float, str]]:
    page.add_init_script(NOTE_TEXT)
    signs, beginnings = [], []
    for _ in range(ROUNDS):
        page.goto(f"/chat/{SLUG}/", wait_until="networkidle")
        page.evaluate(NOTE_SIGN)
        # An answer that begins immediately would hide the feedback.
        ask(page, "tokens=3 delay_ms=1 first_ms=500 tool=")
        beginnings.append(float(wait_for(page, "window.begunAfter")))
        signs.append(float(page.evaluate("window.signAfter")))
    yield "first sign after sending", statistics.median(signs), 100, "ms"
    yield "the answer begun on the server", statistics.median(beginnings), 150, "ms"
    page.goto(f"/chat/{SLUG}/", wait_until="networkidle")
    page.evaluate(f"sessionStorage.wanted = {BEHIND}")
    # A fast model sends 420 characters per second, so no reload has many more characters than the
    # first.
    ask(page, "tokens=1000 delay_ms=50 first_ms=0 tool=")
    length = "[...document.querySelectorAll('.answer-text')].at(-1)?.textContent.length"
    wait_for(page, f"{length} > {BEHIND}")
    reloads = [reloaded_after(page) for _ in range(RELOADS)]
    yield f"reload until {BEHIND:,} characters are shown", statistics.median(reloads), 200, "ms"


def reloaded_after(page: Page) -> float:
    page.reload()
    return shown_after(page)


def ask(page: Page, text: str) -> None:
    page.get_by_label("Your question").fill(text)
    page.get_by_label("Your question").press("Enter")


def wait_for(page: Page, expression: str) -> Any:
    """Wait for an expression. The content security policy blocks Playwright's own way."""
    end = time.monotonic() + kept_runs.PATIENCE
    while not (found := page.evaluate(expression)):
        if time.monotonic() > end:
            raise RuntimeError(f"It has not come: {expression}")
        page.wait_for_timeout(20)
    return found


def answer_goals() -> Iterator[tuple[str, float, float, str]]:
    [cost] = kept_runs.measure({}, [1])
    yield f"rows of an answer of {kept_runs.TOKENS:,} tokens", cost.rows, 25, "rows"
    yield "bytes sent for a byte of it", cost.bytes, 2.5, "bytes"


if __name__ == "__main__":
    sys.exit(main())

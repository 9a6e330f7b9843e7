"""Hostile code ends with a clear result and affects no other user."""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from apps.capabilities.interpreter.sandbox import workers
from tests.capabilities.interpreter.tools import python
from tests.tables import each_row

SECRET = "never-to-be-seen-4711"
MEMORY = (
    "MemoryError: the code was stopped because it needed more than 64 MB. Work on less at once."
)
TIME = "TimeoutError: the code was stopped after 0.2 seconds. Do less in one call."
PRINTED = (
    "The code was stopped because it printed more than 100000 bytes. "
    "Print a summary, or write to a file."
)


@pytest.fixture(autouse=True)
def _tight_limits(monkeypatch):
    monkeypatch.setattr(workers, "CODE_SECONDS", 1.0)
    monkeypatch.setattr(workers, "MEMORY_MB", 64)
    monkeypatch.setenv("QUICKAPPS_TEST_SECRET", SECRET)


@each_row(
    ("code", "error"),
    [
        ("open('/etc/passwd').read()", "FileNotFoundError"),
        ("open('../../../../etc/passwd').read()", "FileNotFoundError"),
        ("open('/proc/self/environ').read()", "FileNotFoundError"),
        (f"open({__file__!r}).read()", "FileNotFoundError"),
        ("open('/data/../etc/hostname', 'rb').read()", "FileNotFoundError"),
        ("open('//etc/passwd').read()", "FileNotFoundError"),
        ("open('/etc\\0/passwd').read()", "Error"),
        ("open(3).read()", "Error"),
        ("import pathlib\npathlib.Path('/etc/passwd').read_text()", "FileNotFoundError"),
        ("import pathlib\nlist(pathlib.Path('/etc').iterdir())", "FileNotFoundError"),
        ("import os\nos.listdir('/etc')", "FileNotFoundError"),
        ("import os\nos.symlink('/etc/passwd', 'x')", "AttributeError"),
        ("import os\nos.system('id')", "AttributeError"),
        ("import os\nos.popen('id')", "AttributeError"),
        ("import os\nos.fork()", "AttributeError"),
        ("import os\nos.kill(1, 9)", "AttributeError"),
        ("import os\nos.sys.modules", "AttributeError"),
        ("import os\nos.environ['QUICKAPPS_TEST_SECRET']", "KeyError"),
        ("import sys\nsys.modules", "AttributeError"),
        ("import sys\nsys._getframe()", "AttributeError"),
        ("import subprocess", "ModuleNotFoundError"),
        ("import socket", "ModuleNotFoundError"),
        ("import ctypes", "ModuleNotFoundError"),
        ("import urllib.request", "ModuleNotFoundError"),
        ("import http.client", "ModuleNotFoundError"),
        ("import importlib", "ModuleNotFoundError"),
        ("import builtins", "ModuleNotFoundError"),
        ("import pickle", "ModuleNotFoundError"),
        ("import threading", "ModuleNotFoundError"),
        ("import multiprocessing", "ModuleNotFoundError"),
        ("import gc", "ModuleNotFoundError"),
        ("import inspect", "ModuleNotFoundError"),
        ("import django", "ModuleNotFoundError"),
        ("__import__('os').system('id')", "NameError"),
        ("eval(\"__import__('os')\")", "NameError"),
        ("exec('import subprocess')", "ModuleNotFoundError"),
        ("__builtins__", "NameError"),
        ("globals()", "NameError"),
        ("compile('1', '', 'eval')", "NameError"),
        ("breakpoint()", "NameError"),
        ("input()", "NameError"),
        ("().__class__.__bases__[0].__subclasses__()", "AttributeError"),
        ("''.__class__.__mro__", "AttributeError"),
        ("object.__subclasses__(object)", "AttributeError"),
        ("(lambda: 0).__globals__", "AttributeError"),
        ("(lambda: 0).__code__", "AttributeError"),
        ("print.__self__", "AttributeError"),
        ("getattr((), '__cla' + 'ss__')", "AttributeError"),
        ("'{0.__class__}'.format(1)", "Error"),
        ("import math\nmath.__loader__", "AttributeError"),
        ("try:\n    1 / 0\nexcept Exception as e:\n    e.__traceback__.tb_frame", "Error"),
        ("async def f(): pass\nf().cr_frame", "AttributeError"),
    ],
)
async def test_there_is_no_way_out(code, error):
    async with python() as own:
        result = await own.call(code)
        read = await own.run("1 + 1")

    assert '"status": "FAILURE"' in result.content
    assert error in result.content
    assert SECRET not in result.content
    assert "root:" not in result.content
    assert read["result"] == "2"


async def test_there_is_nothing_to_see_around():
    async with python() as own:
        environment = await own.run("import os\n[dict(os.environ), os.getenv('PATH')]")
        place = await own.run("[os.getcwd(), os.listdir('/'), os.listdir('.')]")

    assert environment["result"] == "[{}, None]"
    assert place["result"] == "['/data', ['data'], []]"


async def assert_stopped(code: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # A busy machine needs time to fill the memory.
    monkeypatch.setattr(workers, "CODE_SECONDS", 0.2 if reason == TIME else 60.0)
    async with python() as own:
        started = time.monotonic()
        read = await own.run(code)
        seconds = time.monotonic() - started
        monkeypatch.setattr(workers, "CODE_SECONDS", 60.0)
        after = await own.run("1 + 1")

    assert (read["status"], read["stderr"]) == ("FAILURE", reason)
    assert seconds < 60
    assert after["result"] == "2"


@each_row(
    ("code", "reason"),
    [
        ("while True: pass", TIME),
        ("'a' * 10**10", MEMORY),
        ("x = []\nwhile True: x.append('a' * 1000)", MEMORY),
        ("print('x' * 10**7)", PRINTED),
    ],
)
async def test_what_takes_too_much_is_stopped_with_a_reason(code, reason, monkeypatch):
    await assert_stopped(code, reason, monkeypatch)


@pytest.mark.full
@each_row(
    ("code", "reason"),
    [
        ("while True:\n    try:\n        while True: pass\n    except BaseException: pass", TIME),
        ("exec('while True: pass')", TIME),
        ("import hashlib\nhashlib.pbkdf2_hmac('sha256', b'a', b'b', 10**9)", TIME),
        ("x = 'a'\nwhile True: x += x", MEMORY),
        ("x = {}\nfor i in range(10**9): x[i] = str(i)", MEMORY),
        ("x = list(range(10**8))", MEMORY),
        ("bytes(10**10)", MEMORY),
        ("10 ** 10 ** 8", MEMORY),
        ("2 ** (2 ** 40)", MEMORY),
        ("1 << (1 << 40)", MEMORY),
        ("'%1000000000d' % 1", MEMORY),
        ("f'{1:>1000000000}'", MEMORY),
        ("x = 'y' * 10**6\n''.join([x] * 1000)", MEMORY),
        ("for _ in range(10**5): print('x' * 10)", PRINTED),
    ],
)
async def test_every_way_of_taking_too_much_is_stopped_with_a_reason(code, reason, monkeypatch):
    await assert_stopped(code, reason, monkeypatch)


@each_row(
    ("code", "error"),
    [
        ("def f(): return f()\nf()", "RecursionError"),
        ("class A:\n    def __repr__(self): return repr(self)\nA()", "Error"),
        ("x = " + "(" * 5000 + ")" * 5000, "too deeply nested"),
        ("x = " + "-" * 50_000 + "1", "too deeply nested"),
        ("x = " + "[" * 50_000, "too deeply nested"),
        ("eval('(' * 10_000)", "too deeply nested"),
        ("x = " + " + ".join(["1"] * 15_000), "too deeply nested"),
        ("int('9' * 10**6)", "ValueError"),
        ("10 ** 5000", "ValueError"),
        ("import json\njson.loads('[' * 100_000)", "JSONDecodeError"),
        ("raise SystemExit", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("\0", "Error"),
        ("while True: open('a.txt', 'a').write('x' * 10**6)", "No space left"),
        ("open('a.txt', 'w').write('x' * 10**7)\nwhile True: open('a.txt').read()", "at most"),
    ],
)
async def test_what_cannot_be_done_is_an_ordinary_error(code, error):
    async with python() as own:
        result = await own.call(code)
        read = await own.run("1 + 1")

    assert '"status": "FAILURE"' in result.content
    assert error in result.content
    assert len(result.content) < 200_000
    assert read["result"] == "2"


@pytest.mark.parametrize(
    "pattern",
    [
        r"re.match(r'(a+)+$', 'a' * 40 + 'b')",
        r"re.match(r'(a*)*b', 'a' * 100_000)",
        r"re.search(r'(x+x+)+y', 'x' * 100_000)",
        r"re.match(r'^(\w+\s?)*\1$', 'a b ' * 30 + '!')",
        r"re.match(r'(?=(a+)+$)(a|aa)+$', 'a' * 60 + 'b')",
    ],
)
async def test_a_catastrophic_pattern_ends(pattern):
    async with python() as own:
        started = time.monotonic()
        await own.call(f"import re\n{pattern}")
        seconds = time.monotonic() - started
        read = await own.run("1 + 1")

    assert seconds < 60
    assert read["result"] == "2"


@each_row(
    "code",
    [
        "x = []\nfor i in range(100_000): x = [x]\nx",
        "x = []\nx.append(x)\nx",
        "[0] * 10**6",
        "import time\ntime.sleep(10_000)",
        "import asyncio\nawait asyncio.sleep(10_000)",
        "'x' * 10**6",
        "float('nan')",
        "'\\ud800'",
    ],
)
async def test_odd_values_are_told_and_stay_small(code):
    async with python() as own:
        result = await own.call(code)

    assert '"status": "SUCCESS"' in result.content
    assert len(result.content) < 50_000


@pytest.mark.slow("runs code in sandboxes")
@pytest.mark.full
async def test_many_hostile_runs_hold_up_neither_the_server_nor_each_other():
    codes = [
        "while True: pass",
        "x = []\nwhile True: x.append('a' * 1000)",
        "while True: print('x' * 1000)",
        "sum(range(1000))",
    ]
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.005)
            beats += 1

    async def one(code: str) -> str:
        async with python() as own:
            return str((await own.run(code))["status"])

    beating = asyncio.ensure_future(beat())
    statuses = await asyncio.gather(*(one(codes[n % 4]) for n in range(20)))
    beating.cancel()

    assert statuses == ["FAILURE", "FAILURE", "FAILURE", "SUCCESS"] * 5
    assert beats > 100  # a loop that waits for each run would only beat a few times in between


async def test_a_cancelled_call_stops_its_process(monkeypatch):
    monkeypatch.setattr(workers, "CODE_SECONDS", 60.0)
    async with python() as own:
        await own.run("1")
        calling = asyncio.ensure_future(own.call("while True: pass"))
        worker = await found(Spinning())
        environment = Path(f"/proc/{worker}/environ").read_bytes()
        started = time.monotonic()
        calling.cancel()
        await asyncio.wait([calling])
        seconds = time.monotonic() - started
        await found(lambda: not Path(f"/proc/{worker}").exists())
        read = await own.run("1 + 1")

    assert SECRET.encode() not in environment
    assert calling.cancelled()
    assert seconds < 30
    assert read["result"] == "2"


async def test_a_call_that_is_cancelled_while_it_waits_never_runs(monkeypatch):
    monkeypatch.setattr(workers, "CODE_SECONDS", 60.0)
    async with python() as own:
        running = [asyncio.ensure_future(own.call("while True: pass")) for _ in range(3)]
        await found(Spinning())
        for call in running:
            call.cancel()
        await asyncio.wait(running)
        read = await own.run("1 + 1")

    assert read["result"] == "2"
    await found(lambda: busy_worker() is None)


async def found(look: Callable[[], object]) -> object:
    """Return what `look` finds within ten seconds."""
    async with asyncio.timeout(60):
        while not (seen := look()):
            await asyncio.sleep(0.01)
    return seen


class Spinning:
    """Finds the worker that keeps computing; one that only cleans up ends soon."""

    def __init__(self) -> None:
        self.seen: list[int | None] = []

    def __call__(self) -> int | None:
        self.seen.append(busy_worker())
        latest = set(self.seen[-10:])
        return latest.pop() if len(self.seen) >= 10 and len(latest) == 1 else None


def busy_worker() -> int | None:
    """Return a child process of the interpreter that is computing, in any of its threads."""
    for folder in Path("/proc").iterdir():
        try:
            if (folder / "comm").read_text() != "monty\n" or fields(folder)[1] != str(os.getpid()):
                continue
            if any(fields(thread)[0] == "R" for thread in (folder / "task").iterdir()):
                return int(folder.name)
        except (OSError, IndexError):
            continue
    return None


def fields(folder: Path) -> list[str]:
    """Return the kernel's fields: state, parent and so on."""
    return (folder / "stat").read_text().rsplit(")", 1)[1].split()

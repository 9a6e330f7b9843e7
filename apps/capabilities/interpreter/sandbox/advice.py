"""Describes the sandbox to the model that writes code for it."""

from apps.capabilities.interpreter.sandbox import workers
from apps.capabilities.interpreter.sandbox.folder import HOME

MODULES = (
    "asyncio, base64, binascii, bisect, collections, copy, csv, dataclasses, datetime, decimal, "
    "functools, hashlib, itertools, json, math, os (files only), pathlib, random, re, sys, time, "
    "tomllib, typing, unicodedata"
)


def language_advice() -> str:
    """Describe the supported Python subset and the limits of a call."""
    return (
        "The interpreter is a sandbox with a subset of Python 3. "
        f"Modules: {MODULES}. No others exist (no numpy, pandas, matplotlib, statistics, io, "
        "heapq, enum). Not supported: yield, del, class inheritance, decorators in classes "
        "(staticmethod, classmethod), super, try/except*, import *, input, globals, dir, vars, "
        "callable, bytearray, issubclass. Available: functions, lambdas, comprehensions, "
        "f-strings, plain classes and dataclasses, match, async/await, open, eval. "
        "There is no network, no host and no environment. "
        f"A call has {workers.CODE_SECONDS:g} seconds and {workers.MEMORY_MB} MB."
    )


def attachment_advice() -> str:
    """Describe how code reads input files and returns attachments."""
    return (
        "Variables and functions remain for later calls, files do not. Print what you need, or "
        "end with an expression: its value is the result. Files named in attachment_urls are in "
        f"the working directory {HOME}, under the last part of their URL: open('sales.csv'). Name "
        "them in every call that reads them. Files that the code writes there become attachments "
        "if they end in .csv, .json, .xml, .txt, .md, .png, .jpg or .plotly.json (a Plotly "
        "figure as JSON with 'data' and 'layout': the way to show a chart)."
    )


def session_advice() -> str:
    """Describe what remains in a session between calls."""
    return (
        "Variables, functions and files remain for later calls with the same session_id. Print "
        "what you need, or end with an expression: its value is the result. Files are written to "
        f"the working directory {HOME}; charts are written as *.plotly.json (a Plotly figure as "
        "JSON with 'data' and 'layout')."
    )

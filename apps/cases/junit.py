"""Writes the results of a run of test cases as JUnit XML, which build servers read."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

import regex

from apps.cases.models import CaseResult, CaseRun

_forbidden = regex.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(run: CaseRun, results: Sequence[CaseResult]) -> bytes:
    failed = sum(not result.passed for result in results)
    figures = {
        "name": f"{run.application.slug} ({run.target})",
        "tests": str(len(results)),
        "failures": str(failed),
        "errors": "1" if run.problem else "0",
        "skipped": "0",
        "time": f"{sum(result.seconds for result in results):.3f}",
    }
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(
        root, "testsuite", {**figures, "timestamp": f"{run.started_at:%Y-%m-%dT%H:%M:%S}"}
    )
    for result in results:
        suite.append(case_element(run, result))
    if run.problem:
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": run.application.slug, "name": "all", "time": "0"}
        )
        ElementTree.SubElement(case, "error", {"message": remove_forbidden_characters(run.problem)})
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def case_element(run: CaseRun, result: CaseResult) -> ElementTree.Element:
    again = f" ({result.attempt})" if run.times > 1 else ""
    names = {
        "classname": run.application.slug,
        "name": remove_forbidden_characters(f"{result.name}{again}"),
    }
    case = ElementTree.Element("testcase", {**names, "time": f"{result.seconds:.3f}"})
    if not result.passed:
        texts = [str(failure["text"]) for failure in result.failures]
        message = remove_forbidden_characters(texts[0] if texts else "failed")
        element = ElementTree.SubElement(case, "failure", {"message": message, "type": "case"})
        element.text = remove_forbidden_characters("\n".join(texts))
    if result.text:
        ElementTree.SubElement(case, "system-out").text = remove_forbidden_characters(result.text)
    return case


def remove_forbidden_characters(text: str) -> str:
    """Replace the characters that XML cannot contain."""
    return _forbidden.sub("\N{REPLACEMENT CHARACTER}", text)

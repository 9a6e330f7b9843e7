"""Paths of problems in a manifest, from the row of the application on."""

from collections.abc import Iterable
from dataclasses import replace

from apps.catalog.application_files.own_skills import SKILLS
from apps.manifest.problems import ROOT, Problem


def in_manifest(problems: Iterable[Problem]) -> list[Problem]:
    return [replace(found, path=at_manifest(found.path)) for found in problems]


def at_manifest(path: str) -> str:
    if path in {"", ROOT}:
        return "manifest"
    if path.startswith(f"{SKILLS}/"):
        return path  # a file of the application
    return f"manifest{path}" if path.startswith("[") else f"manifest.{path}"

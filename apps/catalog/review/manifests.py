"""Finds errors and warnings in a manifest before it runs.

`apps.manifest` validates a manifest without the database. This review also looks up the names in
the manifest, such as deployments and secrets.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any, Literal

from django.apps import apps
from django.conf import settings

from apps.agent.context.token_estimates import text_tokens
from apps.catalog.content.installed import installed_content
from apps.catalog.content.prompts import other_prompts
from apps.catalog.content.references import ResolvedReferences, resolve_references
from apps.catalog.credentials.masking import restore_credentials
from apps.catalog.credentials.review import review_credentials
from apps.catalog.review.reachability import reachability_warnings
from apps.manifest.aliases import with_own_names
from apps.manifest.json_text import JSONTextInvalid, locate, objects_in, parse_json, unstorable
from apps.manifest.manifest import LONGEST_QUESTION
from apps.manifest.problems import Problem, join_path
from apps.manifest.validation.validation import Review, name_problems, read_manifest, review
from apps.workspace.egress.urls import NO_HOST, has_usable_host
from apps.workspace.local.models import Deployment

MOST_UNSTORABLE = 20
ADDRESSES = frozenset({"base_url", "method_url", "token_url", "url"})
"""Manifest fields that contain a URL. A URL without a scheme is a path on this server, or invalid.
"""
EMBEDDING, VISION = "embedding_deployment_id", "vision_deployment_id"
PROMPT = "system_prompt"
SCHEMES = ("http://", "https://")


def review_manifest(
    manifest: Any, *, is_ours: bool = True, secrets_may_be_missing: bool = False
) -> Review:
    """Review a manifest. Errors prevent saving it; warnings do not.

    With `is_ours=False`, DIAL Core stores the manifest: its deployments are unknown here, and it
    cannot refer to secrets. With `secrets_may_be_missing`, unknown secrets cause warnings, because
    they may be added later.
    """
    if refused := [Problem(*found) for found in islice(unstorable(manifest), MOST_UNSTORABLE)]:
        return Review(errors=tuple(refused), warnings=())
    found = review(
        manifest,
        preview=settings.ENABLE_PREVIEW_FEATURES,
        default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
        is_foreign=not is_ours,
    )
    unknown = tuple(unknown_deployments(manifest)) if is_ours else ()
    missing, doubtful = review_credentials(manifest) if is_ours else ((), ())
    if secrets_may_be_missing:
        missing, doubtful = (), (*missing, *doubtful)
    misplaced = wrong_kinds(manifest) if is_ours else ()
    missing = (*missing, *host_problems(manifest), *misplaced)
    doubtful = (*doubtful, *reachability_warnings(manifest)) if is_ours else doubtful
    long = tuple(long_prompt(manifest)) if is_ours else ()
    warnings = (*found.warnings, *unknown, *doubtful, *long_starters(manifest), *long)
    if found.errors:
        return Review(errors=(*found.errors, *missing), warnings=warnings)
    resolved = with_content(manifest, is_foreign=not is_ours)
    unresolved = (Problem(problem.path, problem.sentence) for problem in resolved.problems)
    return Review(
        # Predefined content may add a second tool with the same name.
        errors=(*name_problems(resolved.manifest), *missing),
        warnings=(*warnings, *unresolved, *other_prompts(resolved.manifest)),
    )


@dataclass(frozen=True, slots=True)
class Finding:
    """An error or warning, and its position in the text of a manifest."""

    severity: Literal["error", "warning"]
    path: str
    """The path in the manifest, or "" if the finding concerns the whole text."""
    message: str
    line: int
    column: int


def review_text(text: str, *, is_ours: bool = True, sources: Sequence[Any] = ()) -> list[Finding]:
    """Review the JSON text of a manifest, and list errors before warnings. Masks in the text are
    replaced with credentials from the `sources`.
    """
    try:
        manifest = parse_json(text)
    except JSONTextInvalid as error:
        place = (max(error.line, 1), max(error.column, 1))
        return [Finding("error", "", str(error), *place)]
    found = restore_credentials(manifest, sources)
    document = with_own_names(found.document) if is_ours else found.document
    reviewed = review_manifest(document, is_ours=is_ours)
    hidden = {problem.path for problem in found.problems}
    errors = (*found.problems, *(p for p in reviewed.errors if p.path not in hidden))
    return [
        *(finding("error", problem, text) for problem in errors),
        *(finding("warning", problem, text) for problem in reviewed.warnings),
    ]


def finding(severity: Literal["error", "warning"], problem: Problem, text: str) -> Finding:
    return Finding(severity, problem.path, problem.message, *locate(text, problem.path))


def with_content(manifest: Any, *, is_foreign: bool = False) -> ResolvedReferences:
    """Parse a manifest and resolve its references to predefined content. Raises `ManifestInvalid`
    if it is invalid.
    """
    checked = read_manifest(
        manifest,
        preview=settings.ENABLE_PREVIEW_FEATURES,
        default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
    )
    return resolve_references(checked, installed_content(), is_foreign=is_foreign)


def unknown_deployments(manifest: Any) -> Iterator[Problem]:
    """Yield a warning for each deployment in the manifest that is unknown or disabled.

    Names with a slash are skipped. They refer to deployments in DIAL Core, which can be looked up
    only during a run.
    """
    named = [(path, name) for path, name in deployment_names(manifest) if "/" not in name]
    if not named:
        return
    enabled = dict(Deployment.objects.values_list("deployment_id", "is_enabled"))
    callable_names = set(applications_named({name for _, name in named})) | enabled.keys()
    for path, name in named:
        if name not in callable_names:
            yield Problem(path, unknown_name(name, enabled))
        elif not enabled.get(name, True):
            yield Problem(
                path, f"the deployment {name!r} is disabled; enable it or choose another."
            )


def long_starters(manifest: Any) -> Iterator[Problem]:
    """Yield a warning for each conversation starter whose question is too long for the chat page."""
    written = manifest.get("conversation_starters") if isinstance(manifest, dict) else None
    starters = written.get("starters") if isinstance(written, dict) else None
    for index, one in enumerate(starters if isinstance(starters, list) else ()):
        text = one.get("text") if isinstance(one, dict) else None
        if isinstance(text, str) and len(text) > LONGEST_QUESTION:
            path = f"conversation_starters.starters[{index}].text"
            yield Problem(
                path,
                f"has {len(text):,} characters; the limit is {LONGEST_QUESTION:,} per question.",
            )


def long_prompt(manifest: Any) -> Iterator[Problem]:
    """Yield a warning if the prompt fills the model's whole context window."""
    told = manifest.get("orchestrator") if isinstance(manifest, dict) else None
    parts = [told.get(key) if isinstance(told, dict) else None for key in ("deployment", PROMPT)]
    deployment, prompt = (one if isinstance(one, dict) else {} for one in parts)
    content, name = prompt.get("content"), deployment.get("deployment_id")
    if not isinstance(content, str) or not isinstance(name, str):
        return
    rows = Deployment.objects.filter(deployment_id=name).values_list("context_window", flat=True)
    window, tokens = rows.first(), text_tokens(content)
    if window and tokens >= window:
        text = f"has about {tokens:,} tokens; the limit of {name} is {window:,}, including the question."
        yield Problem(f"orchestrator.{PROMPT}.content", text)


def wrong_kinds(manifest: Any) -> Iterator[Problem]:
    """Yield an error for each deployment whose kind is not allowed at its path, such as an
    embedding model as the orchestrator.
    """
    named = [(path, name) for path, name in deployment_names(manifest) if "/" not in name]
    kinds = dict(Deployment.objects.values_list("deployment_id", "kind")) if named else {}
    for path, name in named:
        usable = usable_kinds(path)
        if (kind := kinds.get(name, usable[0])) not in usable:
            text = f"the deployment {name!r} is of kind {kind!r}; choose one of kind {usable[0]!r}."
            yield Problem(path, text)


def usable_kinds(path: str) -> tuple[str, ...]:
    """Return the kinds of deployments that can be used at this path. Toolsets can also use image
    models.
    """
    if path.endswith(EMBEDDING):
        return ("embedding",)
    return ("chat", "image") if "tool_sets[" in path else ("chat",)


def applications_named(names: set[str]) -> Iterator[str]:
    # Imported here, because the models use this module.
    application = apps.get_model("catalog", "Application")
    return application.objects.filter(slug__in=names).values_list("slug", flat=True).iterator()


def unknown_name(name: str, known: dict[str, bool]) -> str:
    near = get_close_matches(name, known, n=3, cutoff=0.5)
    hint = (
        f"; did you mean {' or '.join(map(repr, near))}?"
        if near
        else "; add it, or choose another."
    )
    return f"there is no deployment {name!r} in this installation{hint}"


def deployment_names(manifest: Any) -> Iterator[tuple[str, str]]:
    """Yield the path and the name of each deployment that the manifest calls, except in DIAL
    toolsets.
    """
    for path, item in objects_in(manifest):
        name = item.get("deployment_id")
        if isinstance(name, str) and name and item.get("type") != "dial-mcp":
            yield join_path(path, "deployment_id"), name
        elif path.endswith("deployment") and isinstance(item.get("name"), str):
            yield join_path(path, "name"), item["name"]
        elif path.endswith("tool_discovery") and isinstance(item.get("service_model"), str):
            yield join_path(path, "service_model"), item["service_model"]
        if path.endswith("orchestrator"):
            yield from chosen_names(path, item)
        for field in (EMBEDDING, VISION):
            if isinstance(item.get(field), str):
                yield join_path(path, field), item[field]


def chosen_names(path: str, orchestrator: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the path and the name of each model that users can choose instead of the default."""
    choices = orchestrator.get("choices")
    for index, name in enumerate(choices if isinstance(choices, list) else ()):
        if isinstance(name, str) and name:
            yield f"{join_path(path, 'choices')}[{index}]", name


def host_problems(manifest: Any) -> Iterator[Problem]:
    """Yield an error for each URL whose host name is invalid."""
    for path, item in objects_in(manifest):
        for key, url in item.items():
            is_address = key in ADDRESSES and isinstance(url, str) and url.startswith(SCHEMES)
            if is_address and not has_usable_host(url):
                yield Problem(join_path(path, key), NO_HOST)

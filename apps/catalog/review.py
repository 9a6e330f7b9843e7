"""Errors and warnings of a manifest before it runs.

The schema's own review knows the document alone; this one also looks up the names in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any, Literal

from django.apps import apps
from django.conf import settings

from apps.agent.estimate import text_tokens
from apps.catalog.content.installed import installed
from apps.catalog.content.prompts import other_prompts
from apps.catalog.content.references import Resolved, resolve_references
from apps.catalog.credentials import review_credentials
from apps.catalog.json_text import JSONTextInvalid, locate, objects_in, parse, unstorable
from apps.catalog.masking import put_back
from apps.catalog.reachability import reachability_warnings
from apps.manifest.aliases import with_own_names
from apps.manifest.problems import Problem, join
from apps.manifest.validation import Review, name_problems, read, review
from apps.workspace.egress.urls import NO_HOST, has_usable_host
from apps.workspace.local.models import Deployment

MOST_UNSTORABLE = 20
ADDRESSES = frozenset({"base_url", "method_url", "token_url", "url"})
"""Fields whose text is an address; one without a scheme is on this server or no address."""
EMBEDDING, VISION = "embedding_deployment_id", "vision_deployment_id"
PROMPT = "system_prompt"
SCHEMES = ("http://", "https://")


def review_manifest(
    manifest: Any, *, is_ours: bool = True, secrets_may_be_missing: bool = False
) -> Review:
    """Errors keep it from being saved, warnings do not.

    A manifest of DIAL Core (not `is_ours`) names Core's deployments, which are not known here, and
    no secrets. `secrets_may_be_missing`: unknown secrets are warnings, for they may be added later.
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
        # Predefined content may bring a second tool of one name.
        errors=(*name_problems(resolved.manifest), *missing),
        warnings=(*warnings, *unresolved, *other_prompts(resolved.manifest)),
    )


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem with its place in the reviewed text; `path` is "" for the text as a whole."""

    severity: Literal["error", "warning"]
    path: str
    message: str
    line: int
    column: int


def review_text(text: str, *, is_ours: bool = True, sources: Sequence[Any] = ()) -> list[Finding]:
    """The review of a typed manifest, errors first.

    Hidden credentials in it are looked up in the `sources`.
    """
    try:
        manifest = parse(text)
    except JSONTextInvalid as error:
        place = (max(error.line, 1), max(error.column, 1))
        return [Finding("error", "", str(error), *place)]
    found = put_back(manifest, sources)
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


def with_content(manifest: Any, *, is_foreign: bool = False) -> Resolved:
    """A valid manifest with its references to predefined content resolved.

    Raises `ManifestInvalid`.
    """
    checked = read(
        manifest,
        preview=settings.ENABLE_PREVIEW_FEATURES,
        default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
    )
    return resolve_references(checked, installed(), is_foreign=is_foreign)


def unknown_deployments(manifest: Any) -> Iterator[Problem]:
    """A warning for each unknown or disabled deployment.

    Names with a slash are resources of a DIAL Core, which are not known before a run.
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
            yield Problem(path, f"the deployment {name!r} is disabled; enable it or name another.")


def long_starters(manifest: Any) -> Iterator[Problem]:
    """A warning for each starter whose question the chat page would refuse."""
    most = settings.CHAT_MAX_QUESTION_CHARS
    written = manifest.get("conversation_starters") if isinstance(manifest, dict) else None
    starters = written.get("starters") if isinstance(written, dict) else None
    for index, one in enumerate(starters if isinstance(starters, list) else ()):
        text = one.get("text") if isinstance(one, dict) else None
        if most and isinstance(text, str) and len(text) > most:
            path = f"conversation_starters.starters[{index}].text"
            yield Problem(path, f"has {len(text):,} characters; a question has at most {most:,}.")


def long_prompt(manifest: Any) -> Iterator[Problem]:
    """A warning for a prompt that leaves no room in the model's context window for a question."""
    told = manifest.get("orchestrator") if isinstance(manifest, dict) else None
    parts = [told.get(key) if isinstance(told, dict) else None for key in ("deployment", PROMPT)]
    deployment, prompt = (one if isinstance(one, dict) else {} for one in parts)
    content, name = prompt.get("content"), deployment.get("deployment_id")
    if not isinstance(content, str) or not isinstance(name, str):
        return
    rows = Deployment.objects.filter(deployment_id=name).values_list("context_window", flat=True)
    window, tokens = rows.first(), text_tokens(content)
    if window and tokens >= window:
        text = f"has about {tokens:,} tokens; {name} takes {window:,}, the question included."
        yield Problem(f"orchestrator.{PROMPT}.content", text)


def wrong_kinds(manifest: Any) -> Iterator[Problem]:
    """A problem for each deployment that cannot do what it is named for."""
    named = [(path, name) for path, name in deployment_names(manifest) if "/" not in name]
    kinds = dict(Deployment.objects.values_list("deployment_id", "kind")) if named else {}
    for path, name in named:
        usable = usable_kinds(path)
        if (kind := kinds.get(name, usable[0])) not in usable:
            text = f"the deployment {name!r} is of kind {kind!r}; name one of kind {usable[0]!r}."
            yield Problem(path, text)


def usable_kinds(path: str) -> tuple[str, ...]:
    """The kinds of deployments that may be named there. Pictures are the answer of a tool, too."""
    if path.endswith(EMBEDDING):
        return ("embedding",)
    return ("chat", "image") if "tool_sets[" in path else ("chat",)


def applications_named(names: set[str]) -> Iterator[str]:
    application = apps.get_model("catalog", "Application")  # it reviews itself with this module
    return application.objects.filter(slug__in=names).values_list("slug", flat=True).iterator()


def unknown_name(name: str, known: dict[str, bool]) -> str:
    near = get_close_matches(name, known, n=3, cutoff=0.5)
    hint = (
        f"; did you mean {' or '.join(map(repr, near))}?" if near else "; add it, or name another."
    )
    return f"there is no deployment {name!r} in this installation{hint}"


def deployment_names(manifest: Any) -> Iterator[tuple[str, str]]:
    """Path and name of each deployment that is called; toolsets of DIAL are none."""
    for path, item in objects_in(manifest):
        name = item.get("deployment_id")
        if isinstance(name, str) and name and item.get("type") != "dial-mcp":
            yield join(path, "deployment_id"), name
        elif path.endswith("deployment") and isinstance(item.get("name"), str):
            yield join(path, "name"), item["name"]
        elif path.endswith("tool_discovery") and isinstance(item.get("service_model"), str):
            yield join(path, "service_model"), item["service_model"]
        if path.endswith("orchestrator"):
            yield from chosen_names(path, item)
        for field in (EMBEDDING, VISION):
            if isinstance(item.get(field), str):
                yield join(path, field), item[field]


def chosen_names(path: str, orchestrator: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The models that people may choose."""
    choices = orchestrator.get("choices")
    for index, name in enumerate(choices if isinstance(choices, list) else ()):
        if isinstance(name, str) and name:
            yield f"{join(path, 'choices')}[{index}]", name


def host_problems(manifest: Any) -> Iterator[Problem]:
    """A problem for each address whose host no name service can look up."""
    for path, item in objects_in(manifest):
        for key, url in item.items():
            is_address = key in ADDRESSES and isinstance(url, str) and url.startswith(SCHEMES)
            if is_address and not has_usable_host(url):
                yield Problem(join(path, key), NO_HOST)

"""The rows of deployments."""

import re
from collections.abc import Mapping, Sequence

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models

from apps.workspace.local.secrets import SecretField
from apps.workspace.versions import Versioned

KEY_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*_(API_KEY|TOKEN)")


def validate_key_variable(name: str) -> None:
    # Only variables that are named as keys may be sent out: never, say, the SECRET_KEY.
    if not KEY_VARIABLE.fullmatch(name):
        raise ValidationError(
            "%(name)s is not the name of an environment variable with a key; "
            "write one in capitals that ends in _API_KEY or _TOKEN.",
            params={"name": repr(name)},
        )


def known_flag(title: str, help_text: str = "") -> models.BooleanField[bool | None, bool | None]:
    """A capability of the model; None for what is known of it by its name."""
    return models.BooleanField(title, null=True, blank=True, default=None, help_text=help_text)


class Deployment(Versioned):
    """A model: its service, its name there, its features."""

    class Kind(models.TextChoices):
        CHAT = "chat", "Chat: writes answers"
        EMBEDDING = "embedding", "Embedding: makes vectors of texts"
        IMAGE = "image", "Image: makes pictures"

    class Provider(models.TextChoices):
        OPENAI = "openai", "OpenAI-compatible service"
        ANTHROPIC = "anthropic", "Anthropic"
        RESPONSES = "openai_responses", "OpenAI Responses"
        DEMO = "demo", "Built-in demo model (needs no key)"
        MINILM = "minilm", "Built-in embedding model (needs no key)"

    deployment_id = models.CharField(
        max_length=100,
        unique=True,
        validators=[RegexValidator(r"^[A-Za-z0-9][A-Za-z0-9._-]*$")],
        help_text="What manifests write in orchestrator.deployment.deployment_id.",
    )
    display_name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    kind = models.CharField(
        max_length=20,
        choices=Kind.choices,
        default=Kind.CHAT,
        help_text="Only chat models drive applications; image models are for tools.",
    )
    provider = models.CharField(max_length=20, choices=Provider.choices, default=Provider.OPENAI)
    base_url = models.URLField(
        blank=True,
        max_length=500,
        help_text="Up to and with the version, such as https://api.example.com/v1. Empty for the "
        "public address of Anthropic and of OpenAI Responses.",
    )
    model_name = models.CharField(
        max_length=200, blank=True, help_text="The model's name at the service."
    )
    api_key = SecretField(blank=True, default="")
    api_key_env = models.CharField(
        "API key variable",
        max_length=100,
        blank=True,
        validators=[validate_key_variable],
        help_text="Name of an environment variable with the key; used when no key is stored.",
    )
    takes_personal_keys = models.BooleanField(
        "takes keys of people",
        default=False,
        help_text="People may add keys of their own for this service, which applications with "
        "features.model_keys ask it with.",
    )
    features = models.JSONField(default=dict, blank=True)
    input_attachment_types = models.JSONField(default=list, blank=True)
    tools = known_flag("calls tools", "In the API's own form, which most models have.")
    text_tools = models.BooleanField(
        "tools as text",
        default=True,
        help_text="For a model that does not call tools: they are described in its prompt, and its "
        "calls are read out of its text. Otherwise it is asked without tools.",
    )
    parallel_tools = known_flag(
        "several calls at once", "With No, the model is asked to make one call at a time."
    )
    vision = known_flag("sees pictures", "With No, a question with a picture is refused.")
    documents = known_flag("reads documents", "PDFs that are sent as they are.")
    audio_input = known_flag("hears sound", "Sound that is sent as it is.")
    audio_output = known_flag("answers with sound")
    structured_output = known_flag("keeps to a JSON schema", "Of response_format.")
    reasoning = known_flag("thinks before it answers")
    caching = known_flag("caches prompts", "Its service keeps the beginnings of requests.")
    context_window = models.PositiveIntegerField(null=True, blank=True, help_text="In tokens.")
    max_output_tokens = models.PositiveIntegerField(
        "longest answer",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="In tokens; requests for more are refused.",
    )
    parameters = models.JSONField(
        default=dict, blank=True, help_text="Request parameters that apply by default."
    )
    fallbacks = models.JSONField(
        default=list,
        blank=True,
        help_text="Deployments that answer in this order, each followed by its own fallbacks, while "
        "this one is overloaded, silent, out of reach, or has a dead key.",
    )
    is_enabled = models.BooleanField("enabled", default=True)
    imported_hash = models.CharField(max_length=64, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("display_name",)
        permissions = (
            ("change_deployment_keys", "Can set the keys of deployments, and where they are sent"),
        )

    def __str__(self) -> str:
        return self.display_name or self.deployment_id

    @property
    def address(self) -> str:
        return service_address(self.provider, self.base_url)

    def clean(self) -> None:
        from apps.workspace.local.fallback_rules import fallback_problem  # imports this

        problems = {}
        if self.provider == self.Provider.OPENAI and not self.base_url:
            problems["base_url"] = "An OpenAI-compatible service needs its address."
        kinds = PROVIDER_KINDS.get(self.provider, (self.kind,))
        if self.kind not in kinds:
            name = self.Provider(self.provider).label
            possible = " or ".join(repr(self.Kind(kind).label) for kind in kinds)
            problems["kind"] = f"{name}: choose the kind {possible}."
        for name in ("features", "parameters"):
            if not isinstance(getattr(self, name), dict):
                problems[name] = 'Write a JSON object, such as {} or {"temperature": 0}.'
        kinds = self.input_attachment_types
        if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
            problems["input_attachment_types"] = 'Write a JSON list, such as [] or ["image/*"].'
        if (text := fallback_problem(self)) is not None:
            problems["fallbacks"] = text
        if problems:
            raise ValidationError(problems)


PROVIDER_KINDS: Mapping[str, Sequence[str]] = {
    Deployment.Provider.ANTHROPIC: (Deployment.Kind.CHAT,),
    Deployment.Provider.RESPONSES: (Deployment.Kind.CHAT,),
    Deployment.Provider.DEMO: (Deployment.Kind.CHAT, Deployment.Kind.IMAGE),
    Deployment.Provider.MINILM: (Deployment.Kind.EMBEDDING,),
}
"""Of the providers that do not have all kinds."""
BUILT_IN_PROVIDERS = frozenset({Deployment.Provider.DEMO, Deployment.Provider.MINILM})
"""They are part of this server and need no key."""
ADDRESSES: Mapping[str, str] = {
    Deployment.Provider.ANTHROPIC: "https://api.anthropic.com/v1",
    Deployment.Provider.RESPONSES: "https://api.openai.com/v1",
}
"""Of the vendors, for deployments without a base URL."""


def service_address(provider: str, base_url: str) -> str:
    return base_url or ADDRESSES.get(provider, "")

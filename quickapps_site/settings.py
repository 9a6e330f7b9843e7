"""Every setting, from the environment. docs/settings.md says what each is for."""

from __future__ import annotations

from pathlib import Path

import django_stubs_ext
from csp.constants import NONCE, NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE
from django.core.exceptions import ImproperlyConfigured
from django.urls import reverse_lazy

from quickapps_site import environment as env

django_stubs_ext.monkeypatch()  # makes ModelAdmin[Model] work at run time

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.text("DATA_DIR") or BASE_DIR / "var")
VAR_DIR.mkdir(parents=True, exist_ok=True)

# --- Security ---------------------------------------------------------------------------------

DEBUG = env.boolean("DEBUG", False)
SECRET_KEY = env.secret("SECRET_KEY", VAR_DIR / "secret.key")
SECRET_KEY_FALLBACKS = env.words("SECRET_KEY_FALLBACKS")
SALT_KEY = env.words("SALT_KEY") or ["quickapps"]
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", ("localhost", "127.0.0.1", "[::1]"))
if "*" in ALLOWED_HOSTS and not DEBUG:
    raise ImproperlyConfigured(
        "ALLOWED_HOSTS is '*', which switches off the origin check of WebSockets; "
        "write the host names, separated by commas."
    )
HTTPS = env.boolean("HTTPS", False)
"""Whether people reach the server through TLS (a proxy in front of it)."""
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_SAMESITE = "Lax"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"

HOST = env.text("HOST", "127.0.0.1")
PORT = env.integer("PORT", 8000, least=1)
SITE_URL = env.url("SITE_URL", f"http://127.0.0.1:{PORT}", ("http", "https")).rstrip("/")
"""Where this server reaches itself: what a REST tool's address that begins with / is joined to."""

# --- Django -----------------------------------------------------------------------------------

INSTALLED_APPS = [
    "daphne",
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "rest_framework_api_key",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
    "apps.accounts",
    "apps.workspace.local",
    "apps.catalog",
    "apps.runs",
    "apps.chat",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "apps.catalog.policies.PolicyOfThePath",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "quickapps_site.urls"
ASGI_APPLICATION = "quickapps_site.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
            ],
        },
    },
]

DATABASES = {"default": env.database("DATABASE_URL", f"sqlite:///{VAR_DIR / 'db.sqlite3'}")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATIC_ROOT.mkdir(exist_ok=True)
MEDIA_ROOT = VAR_DIR / "files"
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

# --- What several processes share -------------------------------------------------------------

REDIS_URL = env.url("REDIS_URL", "", ("redis", "rediss"))
if REDIS_URL:
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [REDIS_URL]},
        }
    }
    CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": REDIS_URL,
        }
    }
else:
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

# --- What browsers may load -------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}

CONTENT_SECURITY_POLICIES = {
    # The admin's widgets compile expressions that stand in its pages, and its theme writes styles.
    "admin:index": {
        "script-src": [SELF, NONCE, UNSAFE_EVAL],
        "style-src": [SELF, UNSAFE_INLINE],
    },
    # The page that shows the OpenAPI description has a style block of its own.
    "api-docs": {"style-src": [SELF, UNSAFE_INLINE]},
}
"""What pages below an address (by the name of its URL) may load in exception."""

# --- The admin --------------------------------------------------------------------------------

UNFOLD = {
    "SITE_TITLE": "QuickApps",
    "SITE_HEADER": "QuickApps",
    "SITE_SUBHEADER": "Administration",
    "SITE_SYMBOL": "forum",
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": reverse_lazy("favicon")},
    ],
    "SITE_URL": "/",
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    "BORDER_RADIUS": "6px",
    "COLORS": {
        "primary": {
            "50": "oklch(97% .014 254.604)",
            "100": "oklch(93.2% .032 255.585)",
            "200": "oklch(88.2% .059 254.128)",
            "300": "oklch(80.9% .105 251.813)",
            "400": "oklch(70.7% .165 254.624)",
            "500": "oklch(62.3% .214 259.815)",
            "600": "oklch(54.6% .245 262.881)",
            "700": "oklch(48.8% .243 264.376)",
            "800": "oklch(42.4% .199 265.638)",
            "900": "oklch(37.9% .146 265.522)",
            "950": "oklch(28.2% .091 267.935)",
        },
    },
    "SCRIPTS": ["apps.catalog.admin.index.landmarks_script"],
    "STYLES": ["apps.catalog.admin.index.corrections_style"],
    "DASHBOARD_CALLBACK": "apps.catalog.admin.index.overview",
    "SIDEBAR": {
        "show_search": False,
        "navigation": [
            {
                "title": "Catalog",
                "items": [
                    {
                        "title": "Applications",
                        "icon": "forum",
                        "link": reverse_lazy("admin:catalog_application_changelist"),
                        "permission": "apps.catalog.admin.index.may_see_applications",
                    },
                    {
                        "title": "Deployments",
                        "icon": "network_node",
                        "link": reverse_lazy("admin:workspace_deployment_changelist"),
                        "permission": "apps.catalog.admin.index.may_see_deployments",
                    },
                ],
            },
            {
                "title": "Access",
                "items": [
                    {
                        "title": "API keys",
                        "icon": "key",
                        "link": reverse_lazy("admin:accounts_apikey_changelist"),
                        "permission": "apps.catalog.admin.index.may_see_keys",
                    },
                    {
                        "title": "Operator keys",
                        "icon": "passkey",
                        "link": reverse_lazy("admin:catalog_operatorkey_changelist"),
                        "permission": "apps.catalog.admin.index.may_see_operator_keys",
                    },
                    {
                        "title": "Users",
                        "icon": "person",
                        "link": reverse_lazy("admin:auth_user_changelist"),
                        "permission": "apps.catalog.admin.index.may_see_users",
                    },
                    {
                        "title": "Groups",
                        "icon": "group",
                        "link": reverse_lazy("admin:auth_group_changelist"),
                        "permission": "apps.catalog.admin.index.may_see_groups",
                    },
                ],
            },
            {
                "title": "Elsewhere",
                "items": [
                    {
                        "title": "Chat page",
                        "icon": "chat",
                        "link": "/",
                        "active": "apps.catalog.admin.index.is_elsewhere",
                    },
                    {
                        "title": "API description",
                        "icon": "api",
                        "link": reverse_lazy("api-docs"),
                    },
                ],
            },
        ],
    },
}

# --- The API for scripts ----------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "apps.catalog.api.authentication.OperatorKeyAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["apps.catalog.api.authentication.StaffWithPermission"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["apps.catalog.api.documents.DocumentParser"],
    "EXCEPTION_HANDLER": "apps.catalog.api.problems.answer",
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
    "PAGE_SIZE": 100,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "QuickApps",
    "DESCRIPTION": "Applications and deployments, for the scripts of an operator.",
    "VERSION": "1.0",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "COMPONENT_SPLIT_REQUEST": True,
}

# --- QuickApps --------------------------------------------------------------------------------

CAPABILITIES = [
    "apps.capabilities.clock.capability.clock",
    "apps.capabilities.rest.capability.rest",
    "apps.capabilities.deployment.capability.deployment",
    "apps.capabilities.interpreter.capability.interpreter",
    "apps.capabilities.mcp.capability.mcp",
    "apps.capabilities.discovery.capability.discovery",
]

PREDEFINED_DIR = BASE_DIR / "predefined"
APP_SCHEMA_ID = env.url(
    "APP_SCHEMA_ID",
    "https://mydial.epam.com/custom_application_schemas/quickapps2",
    ("http", "https"),
)
CATALOG_MAX_AGE_SECONDS = 1.0
ENABLE_PREVIEW_FEATURES = env.boolean("ENABLE_PREVIEW_FEATURES", False)
DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID = env.text("DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID")
DEFAULT_AGENT_MAX_ITERATIONS = env.integer("DEFAULT_AGENT_MAX_ITERATIONS", 15, least=1, also=-1)
MIN_TOOLS_FOR_DEFERRAL = env.integer("MIN_TOOLS_FOR_DEFERRAL", 10, least=1)
DEFAULT_TOOL_TIMEOUT_SECONDS = env.seconds("DEFAULT_TOOL_TIMEOUT_SECONDS", 300.0, most=3600)
DEFAULT_STAGE_DISPLAY_LEVEL = env.choice(
    "DEFAULT_STAGE_DISPLAY_LEVEL", "", ("none", "error", "info", "debug")
)
"""Wins over every application's own level; empty leaves it to them."""
DEFAULT_FILE_LOADING_SIZE_LIMIT = env.integer(
    "DEFAULT_FILE_LOADING_SIZE_LIMIT", 10_485_760, least=1
)
SHOW_USAGE_STATISTICS = env.boolean("SHOW_USAGE_STATISTICS", False)
SHOW_EXECUTION_TIME_STAGE = env.boolean("SHOW_EXECUTION_TIME_STAGE", False)
PROXY_LANGUAGE_HEADER = env.text("PROXY_LANGUAGE_HEADER", "accept-language").lower()
ALLOW_OVERRIDE_SYSTEM_MESSAGE = env.boolean("ALLOW_OVERRIDE_SYSTEM_MESSAGE", False)
DEMO_MODEL_DELAY_SECONDS = env.seconds("DEMO_MODEL_DELAY_SECONDS", 0.02, most=10)
"""Between two words of the built-in demo model, so that its answers are seen to stream."""
PRIVATE_NETWORK_ALLOWLIST = env.words(
    "PRIVATE_NETWORK_ALLOWLIST", ("localhost", "127.0.0.1") if DEBUG else ()
)
"""Hosts (or `*.suffix`) on private networks that addresses written in a manifest may name."""

PY_INTERPRETER_URL = env.url(
    "PY_INTERPRETER_URL", env.url("DIAL_URL", "", ("http", "https")), ("http", "https")
)
"""Where DIAL's code interpreter is; empty means the sandbox that comes with us."""
PY_INTERPRETER_LOCAL_RUN = env.boolean("PY_INTERPRETER_LOCAL_RUN", False)
PY_INTERPRETER_API_KEY = env.text("PY_INTERPRETER_API_KEY")
PY_INTERPRETER_DEFAULT_SESSION_ID = env.text("PY_INTERPRETER_DEFAULT_SESSION_ID")
PY_INTERPRETER_CLIENT_MAX_RETRIES = env.integer("PY_INTERPRETER_CLIENT_MAX_RETRIES", 3, least=0)
PY_INTERPRETER_CLIENT_TIMEOUT = env.seconds("PY_INTERPRETER_CLIENT_TIMEOUT", 0.0, most=3600)
"""Wins over every application's own time-out; zero leaves it to them."""
PY_INTERPRETER_SANDBOX_SECONDS = env.seconds("PY_INTERPRETER_SANDBOX_SECONDS", 10.0, most=300)
PY_INTERPRETER_SANDBOX_MEMORY_MB = env.integer("PY_INTERPRETER_SANDBOX_MEMORY_MB", 128, least=16)
PY_INTERPRETER_SANDBOX_STATE_BYTES = env.integer(
    "PY_INTERPRETER_SANDBOX_STATE_BYTES", 131_072, least=1024
)
"""What a conversation carries of the variables, in each answer that ran code."""
PY_INTERPRETER_SANDBOX_PROCESSES = env.integer(
    "PY_INTERPRETER_SANDBOX_PROCESSES", 0, least=1, also=0
)
"""Snippets that run at the same time; zero means one for each processor, at least two."""

GATEWAY_MAX_BODY_BYTES = env.integer("GATEWAY_MAX_BODY_BYTES", 32 * 1024 * 1024, least=1024)
GATEWAY_MAX_DEPTH = 64
GATEWAY_MAX_MESSAGES = 10_000
HEARTBEAT_SECONDS = 15.0

RUN_LEASE_SECONDS = env.seconds("RUN_LEASE_SECONDS", 30.0, most=3600)
"""A run of which nothing was heard for so long belongs to a process that is gone."""
CHAT_MAX_QUESTION_CHARS = env.integer("CHAT_MAX_QUESTION_CHARS", 100_000, least=1)
CHAT_MAX_RUNS_PER_VISITOR = env.integer("CHAT_MAX_RUNS_PER_VISITOR", 5, least=1)

LOG_LEVEL = env.choice("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    # They log addresses, bodies or session ids below this level.
    "loggers": {
        name: {"level": "WARNING"}
        for name in ("httpx", "httpx2", "httpcore", "httpcore2", "openai", "mcp", "daphne")
    },
}

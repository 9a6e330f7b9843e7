"""Every setting, from the environment. docs/settings.md says what each is for."""

from __future__ import annotations

from pathlib import Path

import django_stubs_ext
from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured

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
    "csp.middleware.CSPMiddleware",
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

# --- The API for scripts ----------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAdminUser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
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
}

# --- QuickApps --------------------------------------------------------------------------------

CAPABILITIES = [
    "apps.capabilities.clock.capability.clock",
    "apps.capabilities.rest.capability.rest",
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
DEFAULT_TOOL_TIMEOUT_SECONDS = env.seconds("DEFAULT_TOOL_TIMEOUT_SECONDS", 300.0, most=3600)
DEFAULT_FILE_LOADING_SIZE_LIMIT = env.integer(
    "DEFAULT_FILE_LOADING_SIZE_LIMIT", 10_485_760, least=1
)
PROXY_LANGUAGE_HEADER = env.text("PROXY_LANGUAGE_HEADER", "accept-language").lower()
ALLOW_OVERRIDE_SYSTEM_MESSAGE = env.boolean("ALLOW_OVERRIDE_SYSTEM_MESSAGE", False)
DEMO_MODEL_DELAY_SECONDS = env.seconds("DEMO_MODEL_DELAY_SECONDS", 0.02, most=10)
"""Between two words of the built-in demo model, so that its answers are seen to stream."""
PRIVATE_NETWORK_ALLOWLIST = env.words(
    "PRIVATE_NETWORK_ALLOWLIST", ("localhost", "127.0.0.1") if DEBUG else ()
)
"""Hosts (or `*.suffix`) on private networks that addresses written in a manifest may name."""

GATEWAY_MAX_BODY_BYTES = env.integer("GATEWAY_MAX_BODY_BYTES", 32 * 1024 * 1024, least=1024)
GATEWAY_MAX_DEPTH = 64
GATEWAY_MAX_MESSAGES = 10_000
HEARTBEAT_SECONDS = 15.0

LOG_LEVEL = env.choice("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    # They log addresses and bodies below this level.
    "loggers": {
        name: {"level": "WARNING"} for name in ("httpx", "httpx2", "httpcore", "openai", "daphne")
    },
}

"""The one settings file, read from the environment; with no environment at all it is the embedded default."""

from pathlib import Path

import environ
from csp.constants import NONCE, NONE, SELF

env = environ.Env()
BASE_DIR = Path(__file__).resolve().parent.parent

# Everything that Assay writes beside its database (broker messages, exports) lives here.
VAR_DIR = Path(env.str("ASSAY_VAR_DIR", default=str(BASE_DIR / "var")))
DEBUG = env.bool("DEBUG", default=False)
# The default only serves the embedded demo on 127.0.0.1; `check --deploy` refuses it (assay.E001).
INSECURE_SECRET_KEY = "insecure-only-for-the-embedded-demo-on-one-machine"  # noqa: S105 - public on purpose, refused in production
SECRET_KEY = env.str("SECRET_KEY", default=INSECURE_SECRET_KEY)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]", "testserver"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "csp",
    "evaluation",
    "annotator",
    "judging",
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
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
ASGI_APPLICATION = "config.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "config.context_processors.csp_nonce",
            ],
            # Compiled templates are kept even with DEBUG: a participant's page has many partials.
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    [
                        "django.template.loaders.filesystem.Loader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
        },
    }
]

# --- database: SQLite unless DATABASE_URL names a PostgreSQL -------------------------------------------------
DATABASES = {"default": env.db("DATABASE_URL", default=f"sqlite:///{VAR_DIR / 'assay.sqlite3'}")}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # IMMEDIATE makes the read-then-write transactions of claiming exact; WAL lets readers go on meanwhile.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;",
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = env.int("CONN_MAX_AGE", default=60)
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    # Statements are planned once per connection, not for every request. Off behind a pooler that shares connections
    # between transactions.
    if env.bool("ASSAY_PREPARED_STATEMENTS", default=True):
        DATABASES["default"].setdefault("OPTIONS", {}).update(server_side_binding=True, prepare_threshold=3)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Celery: Redis by REDIS_URL, otherwise messages as files on a private path --------------------------------
REDIS_URL = env.str("REDIS_URL", default="")
CELERY_BROKER_URL = REDIS_URL or "filesystem://"
if REDIS_URL:
    # Several installations may share one Redis.
    CELERY_BROKER_TRANSPORT_OPTIONS = {"global_keyprefix": env.str("REDIS_KEY_PREFIX", default="assay:")}
else:
    _messages = VAR_DIR / "broker"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(_messages / "messages"),
        "data_folder_out": str(_messages / "messages"),
        "control_folder": str(_messages / "control"),
        "processed_folder": str(_messages / "processed"),
        "polling_interval": 0.05,
    }
    for _folder in ("messages", "control", "processed"):
        (_messages / _folder).mkdir(parents=True, exist_ok=True, mode=0o700)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_ALWAYS_EAGER = env.bool("CELERY_TASK_ALWAYS_EAGER", default=False)

# --- what a study may ask of this installation ----------------------------------------------------------------
# Launches and reports above these sizes run in the worker instead of in the request.
ASSAY_LAUNCH_INLINE_ITEMS = env.int("ASSAY_LAUNCH_INLINE_ITEMS", default=500)
ASSAY_REPORT_INLINE_JUDGMENTS = env.int("ASSAY_REPORT_INLINE_JUDGMENTS", default=20_000)
# Rows per transaction in bulk work, so that live submits never wait long behind it.
ASSAY_BATCH_SIZE = env.int("ASSAY_BATCH_SIZE", default=500)
# Seconds that rendering one response may take before it falls back to plain text.
ASSAY_RENDER_SECONDS = env.float("ASSAY_RENDER_SECONDS", default=2.0)
# Origins that may show participant pages in a frame, besides Assay itself (a panel's own site).
ASSAY_FRAME_ANCESTORS = env.list("ASSAY_FRAME_ANCESTORS", default=["https://app.prolific.com"])

# --- accounts ----------------------------------------------------------------------------------------------------
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "admin:login"

# --- language and time ------------------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
USE_I18N = True
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True

# --- static files ------------------------------------------------------------------------------------------------
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Hashed names need a collectstatic run, which the embedded default does without; so it has no root either.
ASSAY_HASHED_STATIC = env.bool("ASSAY_HASHED_STATIC", default=False)
STATIC_ROOT = (
    env.str("STATIC_ROOT", default=str(BASE_DIR / "staticfiles") if ASSAY_HASHED_STATIC else "") or None
)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if ASSAY_HASHED_STATIC
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = not ASSAY_HASHED_STATIC
WHITENOISE_AUTOREFRESH = DEBUG
MEDIA_ROOT = VAR_DIR / "media"

# --- security ----------------------------------------------------------------------------------------------------
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
# Behind a proxy that ends TLS; set by whoever runs Assay on the open network.
ASSAY_TLS = env.bool("ASSAY_TLS", default=False)
if ASSAY_TLS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_HSTS_SECONDS = env.int("SECURE_HSTS_SECONDS", default=31_536_000)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True

# --- logs: a participant's token is a capability and never reaches a log --------------------------------------
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"mask_tokens": {"()": "config.logs.MaskTokens"}},
    "formatters": {"line": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["mask_tokens"]}
    },
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="INFO")},
    "loggers": {
        # Without a handler of its own: Django's default one does not mask.
        "django": {"handlers": [], "level": "INFO"},
        "django.server": {"handlers": ["console"], "level": "WARNING", "propagate": False},
    },
}

"""Beat, `celery -A config.beat beat`: it sends names of tasks by the clock, so it loads the settings and no app."""

from celery import Celery

from config import settings

app = Celery("assay", fixups=[], set_as_current=False)
app.config_from_object(settings, namespace="CELERY")

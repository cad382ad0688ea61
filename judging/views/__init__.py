"""Members' screens of runs; one module per screen or act."""

from judging.views.run_list import run_list
from judging.views.run_steer import run_cancel, run_pause, run_resume

__all__ = ["run_cancel", "run_list", "run_pause", "run_resume"]

"""Members' screens of runs; one module per screen or act."""

from judging.views.run_list import run_list
from judging.views.run_steer import run_act

__all__ = ["run_act", "run_list"]

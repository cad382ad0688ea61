"""A client of Assay's API (docs/api.md): studies by script, with nothing installed but httpx2."""

from assay_client.client import Client
from assay_client.frames import to_frame
from assay_client.problems import Fault, JobFailed, Problem, Unreachable
from assay_client.study import Study

__all__ = ["Client", "Fault", "JobFailed", "Problem", "Study", "Unreachable", "to_frame"]

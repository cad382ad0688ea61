"""The cast of the admin's pages, on the pages of panels."""

from tests.evaluation.admin.conftest import private_folder, viewer

__all__ = ["private_folder", "viewer"]

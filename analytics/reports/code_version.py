"""The version of what computes figures: a hash of the sources and of the libraries that they rest on."""

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

import analytics

# As in pyproject.toml, which is no part of an installation.
SOFTWARE_VERSION = "0.1.0"
LIBRARIES = ("numpy", "scipy", "pandas", "krippendorff", "scikit-learn", "statsmodels", "matplotlib")


@cache
def code_version() -> str:
    """Twelve hexadecimal digits; the same in every process of one installation."""
    digest = hashlib.sha256()
    (folder,) = (Path(path) for path in analytics.__path__)
    for path in sorted(folder.rglob("*.py")):
        digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    for name in LIBRARIES:
        digest.update(f"{name} {version(name)}\0".encode())
    return digest.hexdigest()[:12]

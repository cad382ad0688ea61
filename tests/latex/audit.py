"""Reports as LaTeX, compiled and laid out as images to look at. Installs what it needs of Debian where it may.

ASSAY_PUBLISHED_DATA=... python -m tests.latex.audit    # minutes; PDFs and PNGs lie in var/latex afterwards

It fails where a release of which a report is compiled is not below ASSAY_PUBLISHED_DATA.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SEEN = ROOT / "var" / "latex"
# The first two are what a report needs; the others compile other scripts and draw pages.
PACKAGES = ("texlive-latex-extra", "texlive-science", "texlive-luatex", "poppler-utils")
DPI = "80"


def main() -> int:
    if not os.environ.get("ASSAY_PUBLISHED_DATA"):
        sys.stderr.write(
            "Set ASSAY_PUBLISHED_DATA to the folder of the published releases, whose reports are compiled.\n"
        )
        return 1
    if not is_installed():
        sys.stderr.write(f"Install these first: {' '.join(PACKAGES)}.\n")
        return 1
    shutil.rmtree(SEEN, ignore_errors=True)
    environment = os.environ | {"ASSAY_LATEX_AUDIT": str(SEEN), "ASSAY_REQUIRE_ALL": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "--nomigrations", str(HERE / "compiling.py")]
    ended = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    sys.stdout.write("\n| Report | Pages | Warnings of lines that are too wide |\n| --- | ---: | ---: |\n")
    for folder in sorted(path.parent for path in SEEN.glob("*/report.pdf")):
        subprocess.run(["pdftoppm", "-r", DPI, "-png", "report.pdf", "page"], cwd=folder, check=True)
        log = (folder / "report.log").read_text("utf-8", errors="replace")
        pages = len(list(folder.glob("page-*.png")))
        sys.stdout.write(f"| {folder.name} | {pages} | {log.count('Overfull')} |\n")
    return ended


def is_installed() -> bool:
    """True once pdfLaTeX and what draws pages are there; root installs them."""
    commands = ("pdflatex", "lualatex", "pdftoppm")
    if all(map(shutil.which, commands)):
        return True
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return False
    subprocess.run(["apt-get", "update"], check=True)
    subprocess.run(["apt-get", "install", "--yes", "--no-install-recommends", *PACKAGES], check=True)
    return all(map(shutil.which, commands))


if __name__ == "__main__":
    sys.exit(main())

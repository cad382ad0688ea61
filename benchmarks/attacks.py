"""Files and fields made to hold the web server, against one that runs: what others wait for, and its memory.

Each is sent alone and eight at once by somebody who may upload. Meanwhile a participant's page is fetched all the time;
the slowest of these is printed, beside the median without an attack, with the memory of the web's own processes (PSS)
before, at most and afterwards, and what whoever sent it got to see.

Usage: DATABASE_URL=postgres://... python -m benchmarks.attacks [NAME ...]
"""

import io
import os
import re
import signal
import statistics
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.cookiejar import CookieJar
from threading import Event, Thread

from benchmarks import serving
from benchmarks.memory import pss, tree

BASE = f"http://127.0.0.1:{serving.PORT}"
SHEET = "xl/worksheets/sheet1.xml"
LAST = 1_048_576
AT_ONCE = 8
PASSWORD = "attacks-password"


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ["BENCH_ITEMS"] = "40"
    serving.ITEMS = 40
    import django

    django.setup()
    serving.prepare()
    draft = prepare_researcher()
    server = serving.start_server()
    try:
        page = participant()
        quiet = statistics.median(timed(lambda: fetch(page)) for _ in range(30))
        print(f"{os.cpu_count()} cores; a participant's page without an attack: {quiet * 1000:.0f} ms")
        print(
            f"{'attack':<26} {'at once':>7} {'answered':>9} {'slowest page':>13} {'before':>7} {'most':>7} {'after':>7}"
        )
        for name in sys.argv[1:] or ATTACKS:
            made = ATTACKS[name]()
            for at_once in (1, AT_ONCE):
                attack(name, made, at_once, page, draft, server.pid)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(20)


def prepare_researcher() -> str:
    """A researcher with a draft."""
    from django.contrib.auth import get_user_model

    from evaluation.models import StudyMember
    from tests import factories

    user = get_user_model().objects.create_user(
        f"attacker-{uuid.uuid4().hex[:8]}", password=PASSWORD, is_staff=True
    )
    os.environ["BENCH_USER"] = user.get_username()
    draft = factories.make_study(f"draft-{int(time.time())}", queries=3, training=False, checks=0)
    StudyMember.objects.create(study=draft, user=user, role="owner")
    return draft.slug


def attack(name: str, made: "Attack", at_once: int, page: str, draft: str, server: int) -> None:
    before = memory_of(server)
    done, slowest, most = Event(), [0.0], [before]

    def others() -> None:
        while not done.is_set():
            slowest[0] = max(slowest[0], timed(lambda: fetch(page)))
            time.sleep(0.05)

    def memory() -> None:
        while not done.is_set():
            most[0] = max(most[0], memory_of(server))
            time.sleep(0.1)

    browsers = [sign_in() for _ in range(at_once)]
    watching = [Thread(target=others), Thread(target=memory)]
    for each in watching:
        each.start()
    begun = time.perf_counter()
    with ThreadPoolExecutor(at_once) as pool:
        said = list(pool.map(lambda browser: made(browser, draft), browsers))
    took = time.perf_counter() - begun
    done.set()
    for each in watching:
        each.join()
    after, waited = memory_of(server), slowest[0]
    row = (
        f"{name:<26} {at_once:>7} {took:>8.1f}s {waited:>12.2f}s {before:>7.0f} {most[0]:>7.0f} {after:>7.0f}"
    )
    print(row, said[0], flush=True)


def memory_of(server: int) -> float:
    """In MB; 0 where a process ended while it was counted."""
    try:
        return sum(map(pss, tree(server)))
    except OSError:
        return 0.0


# --- those who use it ----------------------------------------------------------------------------------------------


def participant() -> str:
    opener = urllib.request.build_opener()
    answer = opener.open(
        f"{BASE}/s/{os.environ['BENCH_SLUG']}/", urllib.parse.urlencode({"choice": "agree"}).encode()
    )
    return str(answer.geturl())


def fetch(page: str) -> None:
    urllib.request.urlopen(page, timeout=120).read()  # noqa: S310


def timed(act: Callable[[], None]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def sign_in() -> urllib.request.OpenerDirector:
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    fields = {"username": os.environ["BENCH_USER"], "password": PASSWORD, "next": "/admin/"}
    post(browser, "/admin/login/", urllib.parse.urlencode(fields).encode())
    return browser


def post(browser: urllib.request.OpenerDirector, path: str, body: bytes, kind: str = "") -> str:
    """The page that comes of it; the form's token is fetched first."""
    token = re.search(
        r'name="csrfmiddlewaretoken" value="(\w+)"', browser.open(BASE + path, timeout=300).read().decode()
    )
    assert token, path
    headers = {
        "X-CSRFToken": token[1],
        "Referer": BASE + path,
        "Content-Type": kind or "application/x-www-form-urlencoded",
    }
    request = urllib.request.Request(BASE + path, body, headers)  # noqa: S310
    try:
        return str(browser.open(request, timeout=600).read().decode())
    except urllib.error.HTTPError as error:
        return error.read().decode()


# --- attacks -----------------------------------------------------------------------------------------------------

Attack = Callable[[urllib.request.OpenerDirector, int], str]


def upload(name: str, content: bytes) -> Attack:
    def send(browser: urllib.request.OpenerDirector, draft: str) -> str:
        edge = uuid.uuid4().hex
        body = (
            (
                f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
                "Content-Type: application/octet-stream\r\n\r\n"
            ).encode()
            + content
            + f"\r\n--{edge}--\r\n".encode()
        )
        page = post(browser, f"/studies/{draft}/upload/", body, f"multipart/form-data; boundary={edge}")
        if errors := re.search(r'<ul class="errorlist[^>]*>\s*<li>(.*?)</li>', page, re.DOTALL):
            return " ".join(errors[1].split())
        title = re.search(r"<title>\s*([^|<]*)", page)
        return title[1].strip() if title else page[:80]

    return send


def fields(**given: str) -> Attack:
    def send(browser: urllib.request.OpenerDirector, draft: str) -> str:
        page = post(browser, f"/studies/{draft}/design/", urllib.parse.urlencode(given).encode())
        return f"a page of {len(page) / 1e6:.1f} MB"

    return send


def workbook(rows: str = "", merged: str = "", filled: int = 5) -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    for row in [("prompt", "response_a", "response_b"), *((f"q{n}", "a", "b") for n in range(filled))]:
        book.active.append(row)
    plain, packed = io.BytesIO(), io.BytesIO()
    book.save(plain)
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            text = old.read(name)
            if name == SHEET:
                text = text.replace(b"</sheetData>", f"{rows}</sheetData>{merged}".encode())
            new.writestr(name, text)
    return packed.getvalue()


def corner() -> Attack:
    return upload("corner.xlsx", workbook(f'<row r="{LAST}"><c r="XFD{LAST}"><v>1</v></c></row>'))


def merged() -> Attack:
    ranges = "".join(f'<mergeCell ref="A{n + 1}:A{LAST}"/>' for n in range(20_000))
    return upload("merged.xlsx", workbook(merged=f"<mergeCells>{ranges}</mergeCells>", filled=400))


def wide() -> Attack:
    rows = "".join(f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>' for n in range(10, LAST))
    return upload("wide.xlsx", workbook(rows))


def quotation_mark() -> Attack:
    return upload("quote.csv", b'prompt,response_a,response_b\nq,a,b\nq,"' + b"x y z\n" * 15_000_000)


def many_rows() -> Attack:
    return upload("rows.csv", b"prompt,response_a,response_b\n" + b"q,a,b\n" * 15_500_000)


def objects() -> Attack:
    return upload("objects.json", b"[" + b"{}," * 33_000_000 + b"{}]")


def repeated() -> Attack:
    import pyarrow as pa
    import pyarrow.parquet as pq

    one = pa.DictionaryArray.from_arrays(
        pa.array([0] * 100_000, type=pa.int32()), pa.array(["x" * 1_000_000])
    )
    out = io.BytesIO()
    pq.write_table(pa.table({"prompt": one, "response_a": one, "response_b": one}), out, compression="zstd")
    return upload("repeated.parquet", out.getvalue())


ATTACKS: dict[str, Callable[[], Attack]] = {
    "cell at XFD1048576": corner,
    "20,000 merged ranges": merged,
    "a million wide rows": wide,
    "quotation mark": quotation_mark,
    "16 million rows": many_rows,
    "33 million objects": objects,
    "a text 100,000 times": repeated,
    "questions-TOTAL_FORMS": lambda: fields(**{"questions-TOTAL_FORMS": "9" * 20}),
    "arms-TOTAL_FORMS": lambda: fields(**{"arms-TOTAL_FORMS": "9" * 20}),
}


if __name__ == "__main__":
    main()

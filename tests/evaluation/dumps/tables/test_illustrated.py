"""Tables that come as a ZIP with the images that they name."""

import base64
import io
import zipfile

import pytest
from django.core.management import call_command

from evaluation.dumps.tables import illustrated
from evaluation.dumps.tables.reading import read_raw
from evaluation.models import Response, Study
from evaluation.refusals import Refused
from evaluation.services.studies.launch import launch_study
from tests.evaluation.dumps.tables.files import delimited, read, workbook

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
GIF = b"GIF89a\x01\x00\x01\x00\x00\x00\x00;"
SHOWN = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
MOVING = f"data:image/gif;base64,{base64.b64encode(GIF).decode()}"
HEADER = ("prompt", "response_a", "response_b")


def row(number, a="A leek.", b="A pea."):
    return (f"Draw vegetable number {number}, please.", a, b)


def packed(path, table, name="drawn.csv", **images):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, table)
        for each, raw in images.items():
            archive.writestr(each.replace("__", "/").replace("_", "."), raw)
    return path


def table(*rows):
    return delimited(rows, HEADER)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("Here: ![a leek](images/leek.png).", f"Here: ![a leek]({SHOWN})."),
        ("![a leek](./images/leek.png) ![](leek.png)", f"![a leek]({SHOWN}) ![]({SHOWN})"),
        ("![a leek](<images/leek.png>)", f"![a leek]({SHOWN})"),
        ("images/leek.png", f"![]({SHOWN})"),
        ("![](images/pea.jpg)", f"![]({MOVING})"),
        ("![](Images/Pea.JPG)", f"![]({MOVING})"),
        ("![](https://example.org/leek.png)", "![](https://example.org/leek.png)"),
        ("[a leek](images/leek.png)", "[a leek](images/leek.png)"),
    ],
)
def test_images_become_data_where_they_are_named(tmp_path, written, text):
    rows = [row(1, written, "![](images/leek.png)"), *map(row, range(2, 9))]
    found = read(packed(tmp_path / "in.zip", table(*rows), images__leek_png=PNG, images__pea_jpg=GIF))
    assert found.first == (
        "Draw vegetable number 1, please.", [("A", text), ("B", f"![]({SHOWN})")],
    )  # fmt: skip
    assert "of the ZIP's images stand in the texts as data" in " ".join(found.notices)


def test_a_workbook_in_a_folder_beside_what_programs_that_pack_add(tmp_path):
    book = workbook([HEADER, row(1, "![](leek.png)"), *map(row, range(2, 9))])
    path = packed(tmp_path / "in.zip", book, "set/drawn.xlsx", set__leek_png=PNG, __MACOSX___leek_png=b"")
    assert read(path).first[1][0] == ("A", f"![]({SHOWN})")


@pytest.mark.parametrize(
    ("files", "sentences"),
    [
        ({"leek_png": PNG}, ["lines 3 to 4: there is no image 'pea.png' in the ZIP"]),
        ({"leek_png": PNG, "pea_png": b"<svg/>"}, ["lines 3 to 4: pea.png is no PNG, JPEG, GIF or WebP image"]),
        ({"pea_png": PNG + bytes(1_200_000)}, ["pea.png is larger than 1.1 MB, the most of an image"]),
        ({"leek_png": PNG, "b_csv": b"a,b\n1,2"}, ["2 other files (b.csv, drawn.csv). Pack one table"]),
    ],
)  # fmt: skip
def test_what_can_not_be_placed_is_named_with_all_its_lines(tmp_path, files, sentences):
    rows = [row(1), row(2, "![](pea.png)"), row(3, "![](pea.png)"), *map(row, range(4, 9))]
    path = packed(tmp_path / "in.zip", table(*rows), **files)
    with pytest.raises(Refused) as refused:
        read(path)
    for sentence in sentences:
        assert sentence.replace("lines 3", "line 3") in str(refused.value).replace("lines 3", "line 3")


def test_a_zip_in_a_zip_a_damaged_one_and_too_much_are_refused(tmp_path, monkeypatch):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("drawn.csv", table(row(1)))
    with pytest.raises(Refused, match="The ZIP holds another ZIP"):
        read(packed(tmp_path / "nested.zip", inner.getvalue(), leek_png=PNG))
    path = packed(tmp_path / "in.zip", table(row(1, "![](leek.png)"), *map(row, range(2, 9))), leek_png=PNG)
    raw = path.read_bytes()
    at = raw.index(PNG)
    path.write_bytes(raw[: at + 40] + b"xxxx" + raw[at + 44 :])
    with pytest.raises(Refused, match="damaged or locked with a password"):
        read(path)
    monkeypatch.setattr(illustrated, "MAX_CHARACTERS", 500)
    many = [row(n, "![](leek.png)", "![](leek.png)") for n in range(9)]
    with pytest.raises(Refused, match="The images make the table larger than"):
        read_raw(packed(tmp_path / "many.zip", table(*many), leek_png=PNG))


@pytest.mark.django_db
def test_a_study_from_it_shows_the_images(tmp_path, capsys):
    rows = [row(1, "![a leek](leek.png)"), *map(row, range(2, 9))]
    path = packed(tmp_path / "drawn.zip", table(*rows), leek_png=PNG)
    call_command("import_study", str(path), slug="drawn")
    assert "1 of the ZIP's images stand in the texts as data." in capsys.readouterr().out
    study = Study.objects.get(slug="drawn")
    assert study.show_images
    assert Response.objects.filter(text=f"![a leek]({SHOWN})").count() == 1
    launch_study(study)
    first = study.items.get(query__text__startswith="Draw vegetable number 1").stimulus
    [html] = [each["html"] for each in first["responses"] if "leek" in each["text"] and SHOWN in each["text"]]
    assert f'src="{SHOWN}"' in html
    assert 'alt="a leek"' in html

"""Pairs with a baseline, half of them with longer and half with shorter responses."""

import orjson
import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from evaluation.design import generator
from evaluation.dumps.sampling import draw_around
from evaluation.models import Study

ARM = {"key": "plain", "label": "Plain", "context_at_generation": False, "context_at_judging": False}


def write(path, *items, **spec):
    header = {"assay": 1, "spec": {"protocol": "aspects", "title": "Many", "arms": [ARM], **spec}}
    path.write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in (header, *items)))
    return path


def item(key, **texts):
    responses = [{"system": system, "text": text} for system, text in texts.items()]
    return {
        "key": key,
        "arm": "plain",
        "query": {"key": key, "text": f"What of {key}?"},
        "responses": responses,
    }


def many(key):
    return item(
        key,
        base="x" * 50,
        **{f"long{n}": "x" * (60 + n) for n in range(6)},
        **{f"short{n}": "x" for n in range(6)},
    )


@pytest.mark.django_db
def test_half_longer_and_half_shorter_in_a_study_that_can_be_read(tmp_path, capsys):
    path = write(tmp_path / "many.jsonl", many("q1"), many("q2"), many("q3"))
    out = tmp_path / "pairs.jsonl"
    call_command("sample_pairs", str(path), baseline="base", out=out, seed=5)
    printed = capsys.readouterr().out
    for line in ("3 queries", "12 pairs", "6 longer than the baseline", "6 shorter than the baseline"):
        assert line in printed
    call_command("import_study", str(out), slug="pairs", verbosity=0)
    study = Study.objects.get(slug="pairs")
    assert (study.protocol, study.baseline, study.items.count()) == ("pairwise", "base", 12)
    again = tmp_path / "again.jsonl"
    call_command("sample_pairs", str(path), baseline="base", out=again, seed=5)
    assert again.read_bytes() == out.read_bytes()
    call_command("sample_pairs", str(path), baseline="base", out=again, seed=6)
    assert again.read_bytes() != out.read_bytes()


@given(
    lengths=st.dictionaries(st.text("abcdef", min_size=1, max_size=3), st.integers(0, 9), max_size=12),
    baseline=st.integers(0, 9),
    wanted=st.integers(1, 6),
    seed=st.integers(0, 99),
)
def test_as_balanced_as_there_are_systems(lengths, baseline, wanted, seed):
    drawn = draw_around({**lengths, "base": baseline}, "base", wanted, generator(seed))
    assert len(set(drawn)) == len(drawn) == min(wanted, len(lengths))
    assert set(drawn) <= set(lengths)
    longer = sum(lengths[each] > baseline for each in drawn)
    shorter = sum(lengths[each] < baseline for each in drawn)
    enough = (wanted + 1) // 2
    if sum(n > baseline for n in lengths.values()) >= enough <= sum(n < baseline for n in lengths.values()):
        assert abs(longer - shorter) == wanted % 2
        assert longer + shorter == wanted


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ([item("q1", other="a", third="b")], "item 'q1': no response of the baseline 'base'"),
        (
            [{**item("q1", base="a"), "responses": [{"system": "base", "text": "a"}] * 2}],
            "a system has several responses",
        ),
        ([{"key": "q1"}], "line 2: 'arm' is a required property"),
    ],
)
def test_what_can_t_be_paired_is_refused_and_nothing_written(items, said, tmp_path):
    path = write(tmp_path / "many.jsonl", *items)
    out = tmp_path / "pairs.jsonl"
    with pytest.raises(CommandError) as refused:
        call_command("sample_pairs", str(path), baseline="base", out=out)
    assert said in str(refused.value)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["many.jsonl"]


def test_too_few_systems_are_counted(tmp_path, capsys):
    path = write(tmp_path / "many.jsonl", item("q1", base="abc", one="a", same="xyz"))
    call_command("sample_pairs", str(path), baseline="base", out=tmp_path / "pairs.jsonl")
    printed = capsys.readouterr().out
    assert "1 as long than the baseline" not in printed
    assert "1 as long as the baseline" in printed
    assert "1 queries with fewer than 4 other systems" in printed


def test_an_empty_file_and_no_pairs(tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(CommandError, match="is empty"):
        call_command("sample_pairs", str(tmp_path / "empty.jsonl"), baseline="base", out=tmp_path / "o")
    with pytest.raises(CommandError, match="At least one pair"):
        call_command(
            "sample_pairs", str(tmp_path / "empty.jsonl"), baseline="base", out=tmp_path / "o", per_query=0
        )

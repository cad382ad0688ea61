"""Answers that are changed in the database, past the write door."""

from dataclasses import replace

from evaluation.services.answers import load_answers, save_answers


def change_answers(judgments, question=None, **values):
    """Those to a question, or all but texts, have these values."""
    for judgment in judgments:
        save_answers(
            judgment,
            [
                replace(each, **values)
                if (each.question == question if question else each.text is None)
                else each
                for each in load_answers(judgment)
            ],
        )


def add_answers(judgment, *answers):
    save_answers(judgment, [*load_answers(judgment), *answers])

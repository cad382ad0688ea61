"""Answers that are changed in the database, past the write door."""

from dataclasses import replace

from evaluation.services.answers import add_layouts, load_answers, save_texts, set_answers


def change_answers(judgments, question=None, **values):
    """Those to a question, or all but texts, have these values."""
    for judgment in judgments:
        give_answers(
            judgment,
            [
                replace(each, **values)
                if (each.question == question if question else each.text is None)
                else each
                for each in load_answers(judgment)
            ],
        )


def add_answers(judgment, *answers):
    give_answers(judgment, [*load_answers(judgment), *answers])


def give_answers(judgment, answers):
    layout = set_answers(judgment, answers)
    add_layouts([layout] if layout else [])
    judgment.save(update_fields=["answer_layout", "answer_values"])
    save_texts(judgment, answers)

"""A form that is filled in from recorded answers gives these answers again."""

import json

import numpy as np
import pytest

from evaluation.demo.answer_draws import SimulatedJudgment
from evaluation.demo.items import demo_items
from evaluation.demo.plausible import plausible_parameters
from evaluation.demo.studies import STUDIES
from evaluation.forms.input.recorded_answers import answers_as_data
from evaluation.protocols import get_protocol
from evaluation.services.studies.compilation import compile_spec
from evaluation.services.studies.creation import create_study

DRAWS = 4


pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("demo", STUDIES, ids=lambda demo: demo.items.stem)
def test_stored_answers_survive_the_form(demo):
    own = json.loads(demo.items.read_text("utf-8").partition("\n")[0])["spec"]
    study = create_study(title="Demo", slug="demo", protocol=own["protocol"])
    spec, items = demo_items({**compile_spec(study), **own}, lambda text, rules: text)
    protocol = get_protocol(spec["protocol"])
    assert items
    for seed, item in enumerate(items):
        questions = protocol.questions(spec, item.stimulus)
        rng = np.random.default_rng(seed)
        parameters = plausible_parameters(questions, item.key, item.stimulus, seed, 1.0)
        for _ in range(DRAWS):
            given = SimulatedJudgment(item.key, item.stimulus, parameters, rng, 0.0).answer(questions)
            stored = protocol.clean(spec, item.stimulus, given, source="import")
            data = answers_as_data(questions, stored)
            assert sorted(protocol.clean(spec, item.stimulus, data), key=repr) == sorted(stored, key=repr)

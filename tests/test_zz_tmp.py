import pytest
from tests.factories import *
from evaluation.services import verify_study
from evaluation.models import Query
@pytest.mark.django_db
@pytest.mark.parametrize("v",[1e16,1e22,-0.0,5.0,1e300,12345678901234567890,1e-300, 123456789.123456789, "\u2028"])
def test_rt(v):
    s=make_study("x"); Query.objects.filter(study=s).update(documents=[{"score":v}])
    assert list(verify_study(launch(s)))==[]

"""Whatever a JSON column can hold comes back as the standard library would give it back."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.store.schema import json_text, json_value

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(exclude_categories=()))
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(VALUES)
def test_a_value_survives_its_column(value: object) -> None:
    assert json_value(json_text(value)) == value


@given(VALUES)
def test_what_others_wrote_is_read_alike(value: object) -> None:
    text = json.dumps(value)
    assert json_value(text) == json.loads(text)


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("beside", ["words", "\ud800", 10**400])
def test_a_number_that_json_has_not_becomes_null(number: float, beside: object) -> None:
    assert json_value(json_text([number, beside])) == [None, beside]


@pytest.mark.parametrize("text", ["", "[1, 2", "{'a': 1}", "nothing"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        json_value(text)

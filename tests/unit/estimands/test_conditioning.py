import pytest

from dpframe.estimands.conditioning import cancelled


def test_a_warning_starts_at_a_relative_error_of_a_millionth():
    edge = 1e-6 * 2**53
    assert cancelled(0.99 * edge, 1.0, 0.0) == ()
    (text,) = cancelled(1.01 * edge, -1.0, 0.0)
    assert "condition number 9e+09" in text
    assert "Fractions" in text


def test_what_is_small_beside_the_standard_error_is_no_matter():
    assert cancelled(1e9, 0.0, 1.0) == ()
    assert cancelled(1e10, 1e-3, 4.0) == ()
    assert cancelled(1e10, 1e-3, -4.0)
    assert cancelled(0.0, 0.0, 0.0) == ()
    (text,) = cancelled(1.0, 0.0, 0.0)
    assert "infinite" in text


@pytest.mark.parametrize("value", [1.0, -1.0])
def test_the_sign_does_not_matter(value):
    assert bool(cancelled(1e11, value, 0.0))

"""The demo's functions do what they say."""

from datetime import date

from langchain_deferred_tools.demo.functions.dates import add_days, days_between, weekday
from langchain_deferred_tools.demo.functions.text import count_words, slugify
from langchain_deferred_tools.demo.functions.units import convert_length, convert_temperature
from langchain_deferred_tools.demo.servers import functions_in_folder


def test_every_public_function_of_the_folder_is_found() -> None:
    names = {function.__name__ for function in functions_in_folder()}
    assert {"days_between", "slugify", "convert_length"} <= names
    assert len(names) == len(list(functions_in_folder()))


def test_dates_are_counted_in_both_directions() -> None:
    assert days_between(date(2026, 3, 1), date(2026, 2, 27)) == -2
    assert add_days(date(2026, 2, 27), 2) == date(2026, 3, 1)
    assert weekday(date(2026, 12, 24)) == "Thursday"


def test_text_is_counted_and_made_into_slugs() -> None:
    assert count_words("one two\nthree") == {"characters": 13, "words": 3, "lines": 2}
    assert slugify("  Größe & Café: 2nd ") == "groe-cafe-2nd"


def test_units_are_converted_there_and_back() -> None:
    assert convert_length(1, "mi", "ft") == 5280
    assert convert_temperature(100, "C", "F") == 212
    assert convert_temperature(convert_temperature(20, "C", "F"), "F", "C") == 20

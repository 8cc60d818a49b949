"""Calendar arithmetic."""

from datetime import date, timedelta


def days_between(start: date, end: date) -> int:
    """Count the days from one date to another; negative if the second one is earlier."""
    return (end - start).days


def add_days(start: date, days: int) -> date:
    """Find the date that lies a number of days after (or, if negative, before) a date."""
    return start + timedelta(days=days)


def weekday(day: date) -> str:
    """Tell which day of the week a date is, in English."""
    names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    return names[day.weekday()]

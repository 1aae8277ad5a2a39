"""Whether two readings belong together: as one time, or as the two ends of a range."""

from collections.abc import Sequence

from kinkeeper.reading.times.partial import Partial


def is_apposition(left: Partial, right: Partial) -> bool:
    """Whether a dash only stands between a weekday and its date, or a week and its day."""
    if left == Partial(weekday=left.weekday, lean=left.lean) and left.weekday is not None:
        return right.weekday is None and right.day is not None
    return left.period is not None and not left.has_day and right == Partial(weekday=right.weekday)


def comparable(left: Partial, right: Partial) -> bool:
    """Whether two partials can be the ends of one range."""
    if left.length is not None or right.length is not None or right.every is not None:
        return False
    if left.every is not None and left.clock is None:
        return False
    numbers = (left.number, left.four, left.numbers), (right.number, right.four, right.numbers)
    if any(value is not None for value in numbers[0]):
        return (
            right.clock is not None
            or right.day is not None
            or any(value is not None for value in numbers[1])
        )
    if any(value is not None for value in numbers[1]):
        return left.clock is not None or left.day is not None
    if left.instant is not None or right.instant is not None:
        return right.has_date or right.has_time or right.instant is not None
    both_times = left.has_time and right.has_time
    both_dates = left.has_date and right.has_date
    return both_dates or both_times


def may_join(left: Partial, right: Partial, joints: Sequence[str]) -> bool:
    """Whether what stands between two readings lets them be one."""
    if right.length is not None and right.instant is None:
        return "for" in joints and left.length is None
    if left.length is not None and left.instant is None:
        return bool({"from", "starting", "beginning", "at"} & set(joints)) and (
            right.has_time or right.number is not None
        )
    if "-" in joints:
        return is_apposition(left, right) or not comparable(left, right)
    if right.every is not None and left.every is None:
        return left.has_time and not (left.is_weak and "," in joints)
    if _is_span_and_time(left, right) or _is_span_and_time(right, left):
        return False
    return _may_take_number(left, right, joints)


def _may_take_number(left: Partial, right: Partial, joints: Sequence[str]) -> bool:
    """Whether an undecided number on either side may belong to the other."""
    if (
        (right.number is not None or right.four is not None)
        and not joints
        and left == Partial(day=left.day)
    ):
        return False
    if right.number is not None or right.four is not None:
        return bool(left.has_date or left.part is not None or left.every is not None) and not {
            ",",
            ".",
            ":",
        } & set(joints)
    if left.number is not None and joints and not (right.has_date or right.part):
        return False
    if "." in joints and not (left.numbers or left.day or left.weekday is not None):
        return False
    return not (
        left.is_weak
        and right.is_weak
        and left.part is not None
        and not joints
        and right.part is not None
    )


def _is_span_and_time(span: Partial, other: Partial) -> bool:
    """Whether one names days without naming one of them and the other a time: "next week" and "6pm"."""
    has_number = other.number is not None or other.four is not None or other.numbers is not None
    return (
        span.has_date
        and not span.has_day
        and span.month is None
        and not other.has_day
        and (other.has_time or has_number)
        and not other.has_date
    )

"""Words by which somebody takes back what they said or asked for a moment ago: "scratch that thought about …". Pure."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_LONGEST = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraction:
    """What a message takes back.

    Attributes:
        about: Words for it; empty where it is whatever was said last.
        before: What the message says before it takes something back; empty where it says nothing else.
        is_plain: Whether it is a bare "forget it", which may also answer a question.
    """

    about: str
    before: str
    is_plain: bool


def retraction_of(text: str) -> Retraction | None:
    """Return what a message takes back at its end; None where it takes back nothing.

    Args:
        text: The whole message, verbatim.
    """
    plain = " ".join(text[-_LONGEST:].replace("’", "'").split())
    found = _form().search(plain)
    if found is None:
        return None
    about = (found["about"] or "").strip(" .!?")
    is_plain = found["plain"] is not None and not about
    return Retraction(about=about, before=plain[: found.start()].strip(" ,;.–-"), is_plain=is_plain)


@cache
def _form() -> re.Pattern[str]:
    path = files("kinkeeper.reading.data") / "retraction.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    full, plain = ("".join(data[name].strip("\n").split("\n")) for name in ("full", "plain"))
    return re.compile(
        rf"(?:^|(?<=[\s,;.!?–-]))(?:(?:{data['opening']})[\s,;.!–-]+){{0,6}}(?:(?P<full>{full})|(?P<plain>{plain}))"
        rf"(?: (?:{data['about']}) (?P<about>[^.!?,;\n]{{1,200}}))?\W*$",
        re.IGNORECASE,
    )

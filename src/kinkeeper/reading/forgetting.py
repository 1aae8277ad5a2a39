"""Reads that somebody wants what was told to be forgotten, and which of it. Pure."""

import re
import tomllib
from functools import cache
from importlib.resources import files

_LONGEST = 300


def wish_to_forget(text: str) -> str | None:
    """Return the words for what a whole message wants forgotten; None where it wants nothing of the kind, or only points at it.

    "Forget my locker code", "please forget the spiders thing", "can you forget that Ada hates peas?"

    Args:
        text: Verbatim.
    """
    said = " ".join(text.replace("’", "'").split())
    form, none = _forms()
    found = form.fullmatch(said) if len(said) <= _LONGEST else None
    what = found["what"].strip(" ,;:.!?") if found is not None else ""
    return None if not what or none.match(what) else what


@cache
def _forms() -> tuple[re.Pattern[str], re.Pattern[str]]:
    path = files("kinkeeper.reading.data") / "forgetting.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    link = rf"(?: {data['said']})?(?: (?:{data['link']}))?"
    form = (
        rf"(?:{data['opening']}[\s,!.]+){{0,5}}{data['verb']}{link} "
        rf"(?P<what>[^?!.;]{{2,200}}?){data['closing']}[\s.!?]*"
    )
    return re.compile(form, re.IGNORECASE), re.compile(data["none"], re.IGNORECASE)

"""Figures whom children believe in, such as Santa and the tooth fairy: what gives them away, and which child knows. Pure."""

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from kinkeeper.reading.phrases import expanded

_SENTENCE = re.compile(r"[^.!?\n]{1,400}")
_ASKS = re.compile(r"\?\s*$")
_CONTRAST = re.compile(r"\s*[,;]?\s\b(?:but|while|whereas|though|although)\b\s*|;\s*")


@dataclass(frozen=True, slots=True)
class Knowing:
    """What a message says of who knows about figures.

    Attributes:
        words: For the children, in small letters.
        figures: The names of those that they know about, or believe in.
        is_known: Whether they know; else they believe.
    """

    words: frozenset[str]
    figures: frozenset[str]
    is_known: bool


@dataclass(frozen=True, slots=True)
class _Forms:
    """The patterns of one set of words for children."""

    by_name: Mapping[str, tuple[re.Pattern[str], ...]]
    by_deed: Mapping[str, re.Pattern[str]]
    by_grown_ups: Mapping[str, re.Pattern[str]]
    innocent: tuple[re.Pattern[str], ...]
    knowing: Mapping[str, re.Pattern[str]]
    child: re.Pattern[str]
    written: re.Pattern[str]


def figures_given_away(
    text: str, children: Collection[str], *, is_childs: bool = False
) -> frozenset[str]:
    """Return the names of the figures that a text gives away to whoever believes in them.

    What a child does, or what is done with one or on a stage, gives nothing away.

    Args:
        text: Verbatim.
        children: Words for the children of the household, in small letters.
        is_childs: Whether a child says it, who speaks of a figure's doings and not of what grown-ups do for it.
    """
    if _hint().search(text) is None:
        return frozenset()
    forms = _forms(frozenset(children))
    found = {figure for each in _sentences(text) for figure in _given_away_in(each, forms)}
    if not is_childs:
        found |= {figure for each in _sentences(text) for figure in _staged_in(each, forms)}
    return frozenset(found)


def _staged_in(sentence: str, forms: _Forms) -> Iterator[str]:
    """Yield the figures that a sentence names beside what only grown-ups do about them; an elf is moved by nobody else."""
    if any(each.search(sentence) for each in forms.innocent):
        return
    sentence = forms.written.sub("", sentence).strip(" \"'“”")
    signs = {name for name, form in forms.by_grown_ups.items() if form.search(sentence)}
    if "elf" in signs:
        yield "elf"
    if signs - {"elf"}:
        yield from (name for name, form in _names().items() if form.search(sentence))
    if "bells" in signs:
        yield "santa"


def _given_away_in(sentence: str, forms: _Forms) -> Iterator[str]:
    """Yield the figures that one sentence gives away; that one is not real does so whoever says it, and wherever."""
    sentence = forms.written.sub("", sentence).strip()
    is_innocent = any(each.search(sentence) for each in forms.innocent)
    for figure, (unreal, belief, *others) in forms.by_name.items():
        deeds = () if is_innocent else (*others, forms.by_deed.get(figure))
        if any(each and each.search(sentence) for each in (unreal, belief, *deeds)):
            yield figure


def knowing_in(text: str, children: Collection[str]) -> tuple[Knowing, ...]:
    """Return what a message says of which children know about figures, and which believe in them, in its order.

    Args:
        text: Verbatim.
        children: Words for the children of the household, in small letters.
    """
    if _hint().search(text) is None or _ASKS.search(text):
        return ()
    forms = _forms(frozenset(children))
    clauses = (part for each in _sentences(text) for part in _CONTRAST.split(each))
    return tuple(each for one in clauses for each in _knowing_of(one, forms))


def _knowing_of(sentence: str, forms: _Forms) -> Iterator[Knowing]:
    for kind in ("believes", "knows", "told", "doubts"):
        found = forms.knowing[kind].search(sentence)
        if found is None:
            continue
        is_known = kind != "believes"
        before = sentence[: found.end()] if kind in {"knows", "told"} else sentence[: found.start()]
        if is_known and forms.knowing["unsure"].search(before):
            continue
        who = next(filter(None, (found.groupdict().get(name) for name in ("who", "who2"))), "")
        words = frozenset(forms.child.findall(who))
        yield Knowing(words, _figures_in(sentence[found.start() :]), is_known=is_known)
        return


def _figures_in(sentence: str) -> frozenset[str]:
    """Return the figures that a sentence names, with those that go with them; all of them where it names none."""
    data = _data()
    named = {each for each, form in _names().items() if form.search(sentence)}
    with_them = {other for each in named for other in data["known_with"].get(each, ())}
    return frozenset(named | with_them) or frozenset(_names())


def _sentences(text: str) -> Iterator[str]:
    plain = " ".join(text.replace("’", "'").lower().split(" "))
    plain = plain.replace("st. ", "st ")
    return (each.group().strip() for each in _SENTENCE.finditer(plain))


@cache
def _data() -> dict[str, dict[str, str]]:
    path = files("kinkeeper.reading") / "data" / "childhood_figures.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def _names() -> dict[str, re.Pattern[str]]:
    return {name: re.compile(rf"\b{form}\b") for name, form in _data()["names"].items()}


@cache
def _hint() -> re.Pattern[str]:
    """What every text that gives a figure away has a piece of: most texts need no closer look."""
    names = "|".join(_data()["names"].values())
    return re.compile(
        rf"{names}|pillow|t(?:oo|ee)th|stocking|egg|easter|nest|basket|boot|shoe|clog|well(?:ies|ing)|slipper|trainer|hoof|sleigh|believ|north pole",
        re.IGNORECASE,
    )


@lru_cache(maxsize=64)
def _forms(children: frozenset[str]) -> _Forms:
    """Return the patterns with the words for some children."""
    data = _data()
    names = (
        "|".join(map(re.escape, sorted(children, key=lambda each: (-len(each), each)))) or "(?!)"
    )
    every = "|".join(data["names"].values())
    words = data["classes"] | {
        "child": f"(?:{data['classes']['kids']}|{names})",
        "any": f"(?:{every})",
    }

    def compiled(form: str, figure: str) -> re.Pattern[str]:
        return re.compile(expanded(form, words | {"figure": rf"\b(?:{figure})"}))

    return _Forms(
        by_name={
            name: tuple(compiled(form, figure) for form in data["by_name"].values())
            for name, figure in data["names"].items()
        },
        by_deed={name: compiled(form, every) for name, form in data["by_deed"].items()},
        by_grown_ups={name: compiled(form, every) for name, form in data["by_grown_ups"].items()},
        innocent=tuple(compiled(form, every) for form in data["innocent"].values()),
        knowing={name: compiled(form, every) for name, form in data["knowing"].items()},
        child=re.compile(rf"\b(?:{data['classes']['kids']}|{names})\b"),
        written=re.compile(data["frames"]["written"]),
    )

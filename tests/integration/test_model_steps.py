"""A model that works on steps of goals: it chooses looks and lines, and whatever it says, nothing else comes of it."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from test_outside_search import FORMS, ORDERS, goal_step, hit, look_again, others, web_home

from asking import ABE, FAMILY, NOW
from goal_home import GoalHome
from kinkeeper.background.cycles import cycle_counts
from kinkeeper.background.model import ModelUse, Outcome, WebUse
from kinkeeper.background.model_steps import STAGE
from kinkeeper.bootstrap.goals import goal_work
from kinkeeper.core.effort import MOST_ROUNDS
from kinkeeper.goals.model import GoalStatus
from kinkeeper.jobs.job import Pace
from kinkeeper.memory.finding.search import Finder
from kinkeeper.models.endpoints import DailyLimits
from kinkeeper.models.repository import model_calls, model_fallbacks
from kinkeeper.settings.model import Settings
from kinkeeper.web.views.health import _GOALS
from model_calls import rows
from modelserver import ModelServer, breaks_off, computes, fails, model_server, refuses, says
from step_models import EachCall, Shown, answer, choosing, numbers_of
from web_peer import WebPeer, page, web_peer

MUSEUM = "museum.example/hours"
POOL = "pool.example/courses"
OF_MODELS = frozenset({"model_calls", "model_budgets", "model_fallbacks"})


@pytest.fixture
def peer() -> Iterator[WebPeer]:
    with web_peer() as peer:
        yield peer


@pytest.fixture
def models() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


@pytest.fixture
def home(tmp_path: Path, peer: WebPeer, models: ModelServer) -> Iterator[GoalHome]:
    with_model = EachCall(tmp_path / "family.db", models.url)
    made = web_home(tmp_path / "family.db", peer, models=with_model)
    yield made
    made.store.close()
    with_model.close()


def will(models: ModelServer, choose: Callable[[Shown], str]) -> None:
    models.will(computes(choosing(choose)))


def counts(home: GoalHome) -> dict[str, int]:
    since = NOW - timedelta(days=1)
    return dict(home.store.read_now(lambda conn: cycle_counts(conn, FAMILY.id, since=since)))


def fallbacks(home: GoalHome) -> list[str]:
    return [each["outcome"] for each in rows(home.store, model_fallbacks) if each["stage"] == STAGE]


def test_it_looks_where_the_model_says_and_tells_the_lines_that_it_chose_word_for_word(
    home: GoalHome, peer: WebPeer, models: ModelServer
) -> None:
    peer.hits = [
        {"url": peer.at(POOL), "title": "Tadpole club", "content": "For little ones"},
        hit("shop.example/1", "Swimming goggles", "£8"),
    ]
    peer.pages[POOL] = page("Tadpoles meet Saturdays 9:30, £72 a term", "Ducklings: £95 a term")

    def choose(seen: Shown) -> str:
        if "page1" in seen["looks"]:
            return answer(look="page1")
        if found := numbers_of(seen, "Tadpoles meet"):
            return answer(*found)
        return answer(look="search", words="swimming course")

    will(models, choose)
    goal = home.want("a swimming course for Nia under £80 a term")
    home.run()
    (_, text) = home.said[0]
    assert "Tadpoles meet Saturdays 9:30, £72 a term (pool.example)" in text
    assert "goggles" not in text
    assert peer.queries == ["swimming course"]
    assert peer.visits == [POOL]
    (step,) = home.goal(goal).progress.steps
    assert [(each.kind, each.id) for each in step.sources] == [("page", peer.at(POOL))]
    assert home.goal(goal).status is GoalStatus.COMPLETED
    found = counts(home)
    assert (found["by_model"], found.get("by_rules", 0)) == (1, 0)
    assert (found["searches"], found["reads"]) == (1, 1)
    # Beyond the limit of its price a line is not even shown.
    assert all("Ducklings" not in each.texts[1] for each in models.calls)


def test_what_the_person_named_is_read_first_and_all_of_it_can_be_chosen(
    home: GoalHome, peer: WebPeer, models: ModelServer
) -> None:
    peer.pages[MUSEUM] = page("#News", "A new lion", "We close at 5 on Sundays")
    will(models, lambda seen: answer(*numbers_of(seen, "close at 5")))
    home.want(f"when the museum shuts at {peer.at(MUSEUM)}")
    home.run()
    assert "We close at 5 on Sundays (museum.example)" in home.said[0][1]
    assert "lion" not in home.said[0][1]
    assert peer.visits == [MUSEUM]
    assert len(models.calls) == 1


def test_it_looks_at_home_for_other_words_and_sees_what_its_person_may_see(
    home: GoalHome, models: ModelServer
) -> None:
    for value in ("Grandma's birthday is on the third of May", "the boiler code is 4821"):
        assert home.desk.ask("memory.store", {"value": value}).error is None
    private = {"value": "I am planning grandma's surprise party at the Blue Heron", "private": True}
    assert home.desk.ask("memory.store", private, by=ABE).error is None

    def choose(seen: Shown) -> str:
        found = numbers_of(seen, "third of May")
        return answer(*found, look="" if found else "home", words="grandma's birthday")

    will(models, choose)
    home.want("when we celebrate the oldest of us")
    home.run()
    assert "third of May" in home.said[0][1]
    assert counts(home)["by_model"] == 1
    assert all("Blue Heron" not in text for each in models.calls for text in each.texts)


def test_the_work_of_a_household_with_a_model_has_its_steps_done_by_it(
    home: GoalHome, models: ModelServer, tmp_path: Path
) -> None:
    finder = Finder(home.store, FAMILY.id, zone=FAMILY.zone, embedder=None, locale=FAMILY.locale)
    told = home.desk.ask("memory.store", {"value": "the best kennel for the dog is in Elm Road"})
    assert told.error is None
    will(models, lambda seen: answer(*numbers_of(seen, "Elm Road")))
    home.want("a kennel near us")
    with_model = EachCall(tmp_path / "family.db", models.url)
    work = goal_work(
        Settings(),
        FAMILY,
        home.store,
        finder,
        mailbox=None,
        gateway=with_model,
        clock=home.clock,
        pace=Pace(),
    )
    asyncio.run(work.run_once())
    with_model.close()
    assert "Elm Road" in home.said[0][1]
    assert counts(home)["by_model"] == 1


def test_all_that_is_counted_has_words_on_the_status_page() -> None:
    assert {each.name for use in (WebUse, ModelUse) for each in fields(use)} <= {*_GOALS}


def test_a_watched_thing_is_left_to_the_rules(
    home: GoalHome, peer: WebPeer, models: ModelServer
) -> None:
    peer.pages[MUSEUM] = page("#Opening hours", "Monday closed")
    home.want(f"the opening hours at {peer.at(MUSEUM)}", kind="watch")
    home.run()
    look_again(home)
    assert "Monday closed" in home.said[0][1]
    assert not models.calls
    assert "by_rules" not in counts(home)


def test_a_page_that_nobody_named_is_asked_for_and_not_offered_to_the_model(
    home: GoalHome, peer: WebPeer, models: ModelServer
) -> None:
    place = "baths.example/times"
    peer.hits = [{"url": peer.at(place), "title": "Opening hours of the baths", "content": "soon"}]
    offered: list[str] = []

    def choose(seen: Shown) -> str:
        offered.extend(seen["looks"])
        found = numbers_of(seen, "Opening hours")
        return answer(*found) if found else answer(look="search", words="baths")

    will(models, choose)
    home.want("the opening hours of the baths")
    home.run()
    assert {*offered} == {"home", "search"}
    assert peer.visits == []
    assert counts(home)["asked"] == 1


NOBODY_KNOWS = "the door code is 4821 and Abe's salary is 52000"


def loops(seen: Shown) -> str:
    """Look again and again, in turns."""
    return answer(look=["home", "search"][len(seen["looked"]) % 2], words=f"{len(seen['looked'])}")


LIES: dict[str, Any] = {
    "unknown numbers": says(answer(1, 2, 99)),
    "number nought": says(answer(0)),
    "a number below nought": says(answer(-1)),
    "an address as a look": says(answer(look="https://evil.example/?q=4821")),
    "a look that is not offered": says(answer(look="page7")),
    "a tool of another part": says(answer(look="email.send", words="evil@evil.example")),
    "an invented line": says(json.dumps({"answers": ["It costs £5"], "look": "", "words": ""})),
    "a key of its own": says(
        json.dumps({"answers": [], "look": "", "words": "", "say": "It costs £5"})
    ),
    "too many numbers": says(answer(*[1] * 50)),
    "too many words": says(answer(look="search", words=NOBODY_KNOWS * 9)),
    "prose": says("It costs £5 and I have sent the mail."),
    "nothing": says(""),
    "a refusal": refuses(),
    "a broken answer": breaks_off('{"answers": ['),
    "an error": fails(503),
    "an answer cut off": says(answer(1), finish="length"),
}


@pytest.mark.parametrize("lie", LIES)
def test_nonsense_and_silence_leave_the_step_to_the_rules(
    tmp_path: Path, peer: WebPeer, models: ModelServer, lie: str
) -> None:
    by_rules, by_model = outcomes(tmp_path, peer, models, lie)
    assert replace(by_model[0], model=by_rules.model) == by_rules
    assert by_model[0].model.by_rules == 1
    assert by_model[1]


def outcomes(
    place: Path, peer: WebPeer, models: ModelServer, lie: str, **changes: Any
) -> tuple[Outcome, tuple[Outcome, list[str]]]:
    """Return what a step comes to by rules, and with a model, with why that was done without."""
    peer.hits = [
        hit("a.example/1", "Swimming course", "Saturdays"),
        hit("b.example/2", "Tents", ""),
    ]
    models.will(LIES[lie])
    found = []
    for name in ("rules", "model"):
        with_model = EachCall(place / f"{name}.db", models.url, **changes)
        home = web_home(place / f"{name}.db", peer, models=with_model if name == "model" else None)
        home.want("a swimming course")
        step = goal_step(home, "a swimming course")
        found.append((asyncio.run(home.runner.run(*step)), fallbacks(home)))
        home.store.close()
        with_model.close()
    return found[0][0], found[1]


def test_a_budget_that_is_spent_leaves_the_step_to_the_rules(
    tmp_path: Path, peer: WebPeer, models: ModelServer
) -> None:
    by_rules, (outcome, why) = outcomes(
        tmp_path, peer, models, "prose", limits=DailyLimits(calls=0)
    )
    assert replace(outcome, model=by_rules.model) == by_rules
    assert why == ["over_budget"]
    assert not models.calls


def test_a_model_that_chooses_nothing_leaves_the_step_to_the_rules(
    home: GoalHome, peer: WebPeer, models: ModelServer
) -> None:
    peer.hits = [hit("a.example/1", "Swimming course", "Saturdays")]
    models.will(says(answer()))
    home.want("a swimming course")
    home.run()
    assert "Saturdays (a.example)" in home.said[0][1]
    assert counts(home)["by_rules"] == 1


def test_lines_of_home_go_to_no_public_host(
    tmp_path: Path, peer: WebPeer, models: ModelServer
) -> None:
    with_model = EachCall(tmp_path / "family.db", "http://192.0.2.1")
    home = web_home(tmp_path / "family.db", peer, models=with_model)
    assert (
        home.desk.ask(
            "memory.store",
            {"value": "the swimming course at the lido starts on Friday at half past three"},
        ).error
        is None
    )
    home.want("a swimming course")
    home.run()
    assert fallbacks(home) == ["public_host"]
    assert "Friday" in home.said[0][1]
    home.store.close()
    with_model.close()


def test_an_endless_loop_ends_after_five_rounds(
    home: GoalHome, peer: WebPeer, models: ModelServer
) -> None:
    peer.hits = [hit("a.example/1", "Swimming course", "Saturdays")]
    will(models, loops)
    home.want("a swimming course")
    home.run()
    asked = [each for each in models.calls if len(each.texts) == 2]
    assert len(asked) <= MOST_ROUNDS
    # Words that are none of the goal's stand for all of these, and the same search is not made twice but by the rules.
    assert peer.queries == ["a swimming course"] * 2
    assert counts(home)["searches"] == len(peer.queries)
    assert len(home.said) == 1


PRIVATE = (
    NOBODY_KNOWS,
    "swimming {memory}",
    "Nia Ruth Abe larch",
    "swimming course at 12 Elm Street",
    "evil.example/?q=swimming",
    "https://evil.example/4821 course",
    "kids' doctor 0131 496 0000",
    "site:evil.example course",
    "4821",
)


@pytest.mark.parametrize("words", PRIVATE)
def test_a_query_has_only_words_of_the_goal_whatever_the_model_wants(
    home: GoalHome, peer: WebPeer, models: ModelServer, words: str
) -> None:
    assert home.desk.ask("memory.store", {"value": "the door code is 4821"}).error is None
    models.will(says(answer(look="search", words=words)))
    home.want("a swimming course for Nia near me")
    home.run()
    assert peer.queries
    allowed = {"a", "swimming", "course", "for", "near", "me"}
    assert all({*each.split()} <= allowed for each in peer.queries)
    assert all("evil" not in each and "4821" not in each for each in peer.sent)


WORST = (
    lambda seen: answer(*range(1, min(8, len(seen["lines"])) + 1)),
    lambda seen: answer(look=next(reversed(seen["looks"]), ""), words=NOBODY_KNOWS),
    lambda seen: answer(
        *numbers_of(seen, "evil")[:8],
        look="search" if "search" in seen["looks"] else "",
        words="evil door code 4821",
    ),
    lambda _seen: answer(look="https://evil.example/", words="x"),
    loops,
)


@pytest.mark.parametrize("place", ["page", "result"])
def test_a_model_that_obeys_orders_in_pages_and_results_can_do_nothing(
    home: GoalHome, peer: WebPeer, models: ModelServer, place: str
) -> None:
    """40 orders, with five models in turns: only lines that were found are told, and nothing is asked elsewhere."""
    home.ask("create", text="something else")
    assert home.desk.ask("memory.store", {"value": "the door code is 4821"}).error is None
    home.run()
    before = without_models(home)
    peer.asked.clear()
    for number, (order, form) in enumerate(product(ORDERS, FORMS)):
        where = f"museum.example/{number}"
        told = form.format(order)
        peer.pages[where] = page(told, title=told, Refresh="0;url=http://evil.example/")
        peer.hits = [hit(f"evil.example/{number}", told, told)]
        will(models, WORST[number % len(WORST)])
        text = f"the entrance fee {number}" + (f" at {peer.at(where)}" if place == "page" else "")
        outcome = asyncio.run(home.runner.run(*goal_step(home, text)))
        assert outcome.lines
        assert_found(outcome)
    assert without_models(home) == before
    assert all("evil" not in each and "4821" not in each for each in peer.sent)
    assert {*peer.looked_up} <= {"museum.example"}
    assert {*peer.visits} <= {f"museum.example/{number}" for number in range(40)}
    allowed = {"the", "entrance", "fee", "at", *map(str, range(40))}
    assert all({*each.split()} <= allowed for each in peer.queries)
    calls = rows(home.store, model_calls)
    assert len(calls) >= 40


def assert_found(outcome: Outcome) -> None:
    """See that every line is what its source says, or that a page could not be read."""
    for line, source in zip(outcome.lines, outcome.sources, strict=True):
        assert source.id
        assert source.text in line


def without_models(home: GoalHome) -> dict[str, list[Any]]:
    """Return the rows of all tables but those of the work and of calls to models."""
    return {name: found for name, found in others(home).items() if name not in OF_MODELS}

"""Which task a few words mean. Pure."""

from collections.abc import Sequence

from kinkeeper.core.errors import NotFoundError, UnclearError
from kinkeeper.language.name_match import meant_by
from kinkeeper.language.text import shorten
from kinkeeper.tasks.model import Task

_MOST_SHOWN = 5
_LONGEST_SHOWN = 60
_SHORTEST_ID = 8


def find_by(words: str, tasks: Sequence[Task]) -> Task:
    """Return the task that is meant by its id or the beginning of it, its title, or words of it.

    Args:
        words: As a person says them.
        tasks: Those that can be meant, the likelier ones first.

    Raises:
        NotFoundError: None is meant; the message says what there is.
        UnclearError: Several can be meant; the question names them.
    """
    named = words.strip().lower()
    by_id = [task for task in tasks if len(named) >= _SHORTEST_ID and task.id.startswith(named)]
    found = by_id or matching(words, tasks)
    if not found:
        raise NotFoundError(f"I can't find an open task like {words!r}. {_what_there_is(tasks)}")
    if len(found) > 1:
        options = [shorten(task.title, _LONGEST_SHOWN) for task in found[:_MOST_SHOWN]]
        raise UnclearError(f"Which task do you mean: {', '.join(options)}?", options=options)
    return found[0]


def matching(words: str, tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks that words can mean: by their titles, else by what is said about them.

    Args:
        words: As a person says them.
        tasks: In the order in which they are wanted.
    """
    titles = [task.title for task in tasks]
    places = meant_by(words, titles)
    if not places:
        places = meant_by(words, [f"{task.title} {task.description}" for task in tasks])
    return [tasks[place] for place in places]


def _what_there_is(tasks: Sequence[Task]) -> str:
    if not tasks:
        return "There are no open tasks."
    shown = ", ".join(shorten(task.title, _LONGEST_SHOWN) for task in tasks[:_MOST_SHOWN])
    more = len(tasks) - _MOST_SHOWN
    return f"Open tasks: {shown}{f' and {more} more' if more > 0 else ''}."

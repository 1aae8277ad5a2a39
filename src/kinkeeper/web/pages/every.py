"""Every page of a household, for the application to include."""

from fastapi import APIRouter
from starlette.routing import Route

from kinkeeper.web import live
from kinkeeper.web.pages import (
    calendar,
    chat,
    event_forms,
    goals,
    health,
    offline,
    pending,
    remembered,
    responses,
    share,
    sign_ins,
    tasks,
    today,
    why,
)

plain: list[Route] = [*responses.routes, *offline.routes, *live.routes]
routers: tuple[APIRouter, ...] = tuple(
    page.router
    for page in (
        sign_ins,
        today,
        chat,
        share,
        pending,
        event_forms,
        calendar,
        why,
        remembered,
        tasks,
        goals,
        health,
    )
)

"""Every page of a household, for the application to include."""

from fastapi import APIRouter
from starlette.routing import Route

from kinkeeper.web import live
from kinkeeper.web.pages import (
    calendar,
    card_form,
    chat,
    digest,
    health,
    imports,
    keys,
    login,
    pending,
    silence,
    static,
    tasks,
    today,
    welcome,
    why,
)
from kinkeeper.web.pages.memory import fact, heard, known, memory_changes, memory_download
from kinkeeper.web.pages.memory import map as map_

plain: list[Route] = [*static.routes, *live.routes]
routers: tuple[APIRouter, ...] = (
    login.router,
    today.router,
    chat.router,
    pending.router,
    card_form.router,
    digest.router,
    calendar.router,
    imports.router,
    why.router,
    known.router,
    fact.router,
    heard.router,
    map_.router,
    memory_changes.router,
    memory_download.router,
    tasks.router,
    silence.router,
    health.router,
    keys.router,
    welcome.router,
)

"""Listens to a household's group chat: tripwire, extraction, attribution, redline, phrasing."""

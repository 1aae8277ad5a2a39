"""Servers outside that the household uses: mail, calendars, tools; adapters of what `actions` asks for."""

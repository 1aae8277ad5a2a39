"""Composition root: settings to a running system; nothing else wires."""

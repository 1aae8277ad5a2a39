"""The only place that changes the household's state: pending actions, consent, executor, undo."""

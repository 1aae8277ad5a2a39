"""Accuracy on labelled data: one module a suite, run by `kinkeeper eval`."""

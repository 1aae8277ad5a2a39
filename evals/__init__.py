"""Accuracy on labelled data: one module a suite, run by `python -m evals`. Not part of the wheel."""

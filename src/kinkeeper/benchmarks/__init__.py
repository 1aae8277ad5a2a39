"""Speed as ratios to a limit or peer measured in the same run, run by `kinkeeper bench`."""

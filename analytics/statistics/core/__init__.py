"""Arrays, estimates and the ways to intervals and p-values that all statistics share."""

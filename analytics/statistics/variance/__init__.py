"""Analysis of variance: between groups of ratings, and of repeated measures on queries."""

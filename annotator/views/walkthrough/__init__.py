"""The walk through a study: every page of its participants for a member to look at and try out; nothing is stored."""

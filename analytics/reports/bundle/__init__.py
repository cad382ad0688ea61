"""Replication bundles: a study with its figures as one archive, and its figures computed anew from one."""

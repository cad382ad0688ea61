"""Tests of the analytics in the admin."""

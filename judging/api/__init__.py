"""The judges' part of the API: thin callers of `judging.services`."""

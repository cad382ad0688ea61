"""Published figures beside ours: a release is read in, computed as any study is, and held against what its paper says.

`releases/` has one module per release, `registry.py` finds them, `manage.py reproduce` prints them.
"""

"""Prompts of judges: requests derived from the protocol's guideline and questions, in the order shown.

Pure: a spec and a stimulus are plain JSON values, as participants' screens read them.
"""

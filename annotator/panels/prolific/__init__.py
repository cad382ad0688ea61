"""Prolific as a platform: the ids in its addresses, its API and webhooks, its filters, and its rules for drafts."""

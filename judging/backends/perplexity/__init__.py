"""Perplexity of the human-written reference under the models behind the responses (HREF section 2.2)."""

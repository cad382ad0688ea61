"""One builder per way of answering, each of which fills in what its partial draws."""

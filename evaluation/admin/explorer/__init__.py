"""Pages of single items, judgments and raters, on which the texts stand beside the answers."""

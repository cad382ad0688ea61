"""Two studies, or two views of one, compared: the same figures side by side with their differences."""

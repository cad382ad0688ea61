"""The methods of a study in words: a sentence per figure, and a paragraph for a paper."""

"""The page on which a study is designed: a draft's form with its preview, and what a launch froze, to be read."""

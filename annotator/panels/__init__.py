"""The recruiters of people: platforms, Prolific's API, money, and the panel's records held against ours.

It stands above the crowd's services, which reach it by `annotator.recruiters` alone.
"""

"""The recruiters of people: platforms and their APIs, money, and the panel's records held against ours.

It stands above the crowd's services, which reach it by `annotator.recruiters` alone.
"""

"""The releases whose papers are reproduced: one more is one more module here, with an instance named REPRODUCTION."""

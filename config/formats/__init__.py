"""The way in which dates are written, by language, where it is not Django's."""

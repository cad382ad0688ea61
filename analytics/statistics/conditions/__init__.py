"""Context: follow-up questions, and ratings under different values of an attribute."""

"""The parts that several of a participant's views share: access, screens, texts, and the rounds with a model."""

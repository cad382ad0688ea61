"""The panel's records, our rows and the money, held against each other."""

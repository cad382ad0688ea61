"""From the database to the arrays that statistics take."""

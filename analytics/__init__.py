"""The figures of studies: statistics, the arrays that they take, and the reports that show them."""

"""How many single-line faults in the four apps the tests catch.

A comparison is turned, a constant moved, a call dropped, a condition negated, two arguments exchanged, `and` becomes
`or`, `+` becomes `-`: one place of one line, drawn by a seed, uniformly over the lines that can bear a fault. For each
fault the tests that are nearest to its module are run until one fails or they have taken `--most` seconds.

    python -m benchmarks.faults draw --seed 1 --n 60      # look at the faults
    python -m benchmarks.faults run --seed 1 --n 60 --out DIR -j 2
    python -m benchmarks.faults compare DIR/faults-1.jsonl OTHER/faults-1.jsonl

Two versions of the tests are judged on the same faults by `run --drawn-from PATH`: the faults are drawn from the source
at PATH and found again in the checkout by the file, the line's text, its occurrence and the place in it. `--checkout`
names another checkout than the one that one stands in. Neither is ever modified: the tests run in copies, which are
removed at the end. What stands in the results is not run again.

Nearest, in this order, the smaller files first: files of tests that are named like the module, those that import it,
those of the folder in tests/ that mirrors its own, the goldens for a module of analytics/, files named like it
elsewhere, and those that import a module that imports it. Asking by coverage which tests execute a line was tried: it
takes two cores three quarters of an hour for each version of the tests before the first fault is judged. A survivor is
read by a person either way.

Tests that caught a fault are run once more at the end without any: one that fails there, too, is not asked again, and
its fault is judged anew. A test that takes three minutes has caught its fault, by time-out. Tests that read the source
rather than run it see only the copy.
"""

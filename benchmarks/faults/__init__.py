"""How many single-line faults in the four apps the tests catch.

A comparison is turned, a constant moved, a call dropped, a condition negated, two arguments exchanged, `and` becomes
`or`, `+` becomes `-`: one place of one line, drawn by a seed, uniformly over the lines that can bear a fault. For each
fault only the tests that execute its line are run, file by file, those that take least first, until one fails.

    python -m benchmarks.faults record --out DIR          # the embedded default's tests, with coverage
    python -m benchmarks.faults draw --seed 1 --n 60      # look at the faults
    python -m benchmarks.faults run --seed 1 --n 60 --data DIR -j 2
    python -m benchmarks.faults compare DIR/faults-1.jsonl OTHER/faults-1.jsonl

Two versions of the tests are judged on the same faults by `run --drawn-from PATH`: the faults are drawn from the source
at PATH and found again in the checkout by the file, the line's text, its occurrence and the place in it. `--checkout`
names another checkout than the one that one stands in. Neither is ever modified: the tests run in copies, which are
removed at the end. What stands in the results is not run again.

Which tests execute a line:

- those during which coverage saw it; of a statement over several lines, any of its lines;
- what a fixture of wider scope than a function executes, all tests that use the fixture execute;
- what a process executes that a test started, the test executes, unless that process was killed (SIGKILL) before it
  could write down what it did, or was given an environment without COVERAGE_PROCESS_START;
- a line that is executed at import, in a function or not, and one of a function whose results are cached: the tests
  that executed a function of its module, and those in the files of the folder in tests/ that is named like the
  module's or the nearest above it (if neither, the tests that executed a function of a module that imports it);
- what only the making of the test database executes (a session's first migration), no test executes: the database is
  made once, without a fault.

Tests that failed when they were recorded are not asked. Those that caught a fault are run once more at the end without
any: one that fails there, too, is not asked again, and its fault is judged anew. A test that takes twenty times its
recorded time and two minutes more has caught its fault, by time-out. Tests that read the source rather than run it are
not seen.
"""

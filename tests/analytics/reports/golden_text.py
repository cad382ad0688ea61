"""A golden as text: a heading for each figure, question and group, a line for each estimate and row of a table.

    preferences/win_rates preference person
      * unit="items" method="t interval of the logit, jackknife over 40 queries"
      expected[*] category=null ties="half" ties@win="win" rate.n=40
      expected[] system="aspen" opponent="birch" rate.is=[0.56,0.43,0.67] .is@win=[0.66,0.53,0.78] standard_error=0.06
      boards[without].standings[] system="birch" rate.is=[0.43,0.32,0.55]

`is` of an estimate is its value, with its limits where it has them. `[]` is the next row of a table, `[name]` the last
one with that name, to which a table of its own belongs; `[*]` is what all rows have. `*` is what estimates have that do
not say so themselves, beside PROSE. A name that begins with a dot goes on from the one before it. `@win` is what the
report has instead where ties are wins, and `-` says that it has no such value.
"""

import json
import re
from collections import Counter

MARKDOWN = "Markdown:"
WIN = "@win"
DIGITS = 11
ESTIMATE = {"value", "low", "high", "n", "unit"}
# What estimates repeat, and what is understood of it where nothing is said.
PROSE = {"unit": "", "level": 0.95, "method": "", "left_out": [], "undefined": "", "note": ""}
UNDERSTOOD = {key: json.dumps(value) for key, value in PROSE.items()}


def flat(value, path=""):
    """(path, scalar or list of scalars) of everything below; a value with limits is a list of the three."""
    if isinstance(value, dict) and value:
        if value.keys() >= ESTIMATE:
            limits = [value["low"], value["high"]]
            is_limited = limits != [None, None]
            value = {
                "is": [value["value"], *limits] if is_limited else value["value"],
                **{key: each for key, each in value.items() if key not in ("value", "low", "high")},
            }
        for key, each in value.items():
            yield from flat(each, f"{path}{'.' * (path[-1:] not in ('', ' '))}{key}")
    elif is_table(value) and not path.endswith("left_out"):
        for at, each in enumerate(value):
            yield from flat(each, f"{path}[{at}]")
    else:
        yield path, value


def is_table(value):
    return isinstance(value, list) and any(isinstance(each, dict) for each in value)


def text_of(half, win, markdown):
    """The text of the values of a report, of what differs where ties are wins (None: nothing can), and its Markdown."""
    lines, heading = [], None
    for about, base, columns in compact(lines_of(half, win)):
        if about != heading:
            lines.append(about)
            heading = about
        lines.append(f"  {base or '.'} {' '.join(shortened(columns))}".rstrip())
    return "\n".join([*lines, MARKDOWN, *markdown, ""])


def read(text):
    """The values, those where ties are wins, and the Markdown."""
    lines = text.split("\n")[:-1]
    end = lines.index(MARKDOWN)
    found, shared, prose, rows = {}, {}, {}, Counter()
    for line in lines[:end]:
        if not line.startswith("  "):
            heading = line
            continue
        base, columns = split(line[2:])
        if base == "*":
            prose[heading] = columns
            continue
        base, table = position(f"{heading}: {'' if base == '.' else base}", rows)
        if base is None:
            shared[table] = columns
        else:
            found[base] = shared.get(table, {}) | columns
    half, win = {}, {}
    for base, columns in found.items():
        for name in estimates(columns):
            known = PROSE | prose.get(base.partition(": ")[0], {})
            columns |= {name + key: value for key, value in known.items() if name + key not in columns}
        for name, value in columns.items():
            part, key = (win, name.removesuffix(WIN)) if name.endswith(WIN) else (half, name)
            part[base + "." * (bool(key) and base[-1] != " ") + key] = value
    changed = half | win
    return (
        {path: value for path, value in half.items() if value is not ...},
        {path: value for path, value in changed.items() if value is not ...} if win else None,
        lines[end + 1 :],
    )


# --- writing --------------------------------------------------------------------------------------------------------


def lines_of(half, win):
    """{(heading, base): {column: text}}, the row of a table before what is below it."""
    found = {}
    for path in dict.fromkeys([*half, *(win or ())]):
        about, base, column = parts(path)
        for end in re.finditer(r"\]", base):
            found.setdefault((about, base[: end.end()]), {})
        columns = found.setdefault((about, base), {})
        was = dumped(half[path]) if path in half else "-"
        now = was if win is None else dumped(win[path]) if path in win else "-"
        if path in half:
            columns[column] = was
        if now != was:
            columns[column + WIN] = now
    return found


def parts(path):
    """A path's heading, the row or record it is of, and its column there."""
    about, _, where = path.partition(": ")
    if "]" in where:
        end = where.rindex("]") + 1
        return about, where[:end], where[end:].removeprefix(".")
    base, _, column = where.rpartition(".")
    return about, base, column


def dumped(value):
    return json.dumps(rounded(value), ensure_ascii=False, separators=(",", ":"))


def rounded(value):
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def compact(found):
    """(heading, base as written, columns): what is shared before the lines that share it, which leave it out."""
    tables, records = {}, {}
    for (about, base), columns in found.items():
        records.setdefault(about, []).append(columns)
        if base.endswith("]"):
            tables.setdefault((about, base[: base.rindex("[")]), []).append(columns)
    shared = {key: common(rows) for key, rows in tables.items()}
    prose = {about: most_common(rows) for about, rows in records.items()}
    said = set()
    for (about, base), columns in found.items():
        if about not in said and without(prose[about], UNDERSTOOD):
            yield about, "*", without(prose[about], UNDERSTOOD)
        said.add(about)
        understood = UNDERSTOOD | prose[about]
        known = {name + key: text for name in estimates(columns) for key, text in understood.items()}
        absent = {name: "-" for name in known if name not in columns}
        written = base
        if base.endswith("]"):
            table = (about, base[: base.rindex("[")])
            written = named(about, table[1], found)
            if table not in said and without(shared[table], known):
                yield about, f"{written}[*]", without(shared[table], known)
            said.add(table)
            known |= shared[table]
            written += "[]"
        yield about, written, without(columns, known) | absent


def most_common(rows):
    """{name: text} of the prose of a record's estimates, the most common of each."""
    found = {name: Counter() for name in PROSE}
    for columns in rows:
        for name in estimates(columns):
            for key, texts in found.items():
                if name + key in columns:
                    texts[columns[name + key]] += 1
    return {key: texts.most_common(1)[0][0] for key, texts in found.items() if texts}


def common(rows):
    """{column: text} of what all rows of a table share."""
    if len(rows) < 2:
        return {}
    return {name: text for name, text in rows[0].items() if all(row.get(name) == text for row in rows)}


def without(columns, known):
    return {name: text for name, text in columns.items() if known.get(name) != text}


def estimates(columns):
    """The beginnings of the names of what is estimated: `rate.` of `rate.is`."""
    return [name[:-2] for name in columns if name == "is" or name.endswith(".is")]


def named(about, base, found):
    """The base with rows called by their first text, where it is a simple one."""
    written, done = "", ""
    for match in re.finditer(r"([^\[]*)\[(\d+)\]", base):
        done = base[: match.end()]
        first = next(iter(found[about, done].values()), "")
        name = first[1:-1] if re.fullmatch(r'"[\w .-]+"', first) else match[2]
        written += f"{match[1]}[{name}]"
    return written + base[len(done) :]


def shortened(columns):
    before = None
    for name, text in columns.items():
        above, dot, last = name.rpartition(".")
        yield f"{'.' + last if dot and above == before else name}={text}"
        before = above


# --- reading --------------------------------------------------------------------------------------------------------

DECODER = json.JSONDecoder()


def split(line):
    """A line's base and its {column: value}."""
    match = re.match(r"(?:\[[^\]]*\]|[^\s\[])+", line)
    columns, at, above = {}, match.end() + 1, ""
    while at < len(line):
        name, _, _ = line[at:].partition("=")
        at += len(name) + 1
        name = above + name if name.startswith(".") else name
        above = name.rpartition(".")[0]
        if line[at] == "-" and line[at + 1 : at + 2] in ("", " "):
            columns[name], at = ..., at + 1
        else:
            columns[name], at = DECODER.raw_decode(line, at)
        at += 1
    return match[0], columns


def position(base, rows):
    """The base with positions for names, and its table: (None, table) of a line that says what rows share."""
    heading, _, where = base.partition(": ")
    path, table = heading + ": ", None
    for before, name in re.findall(r"([^\[]*)(\[[^\]]*\])?", where):
        path += before
        if not name:
            continue
        table = path
        if name == "[*]":
            return None, table
        if name == "[]":
            rows[table] += 1
        path += f"[{rows[table] - 1}]"
    return path, table if where.endswith("]") else None

"""The places of a module where one line can be made wrong, found in its syntax tree."""

import ast
import re
from dataclasses import dataclass
from itertools import pairwise

COMPARISONS = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"),
}  # fmt: skip
# Comparisons that stand in the name of an argument: filter(at__lt=now).
LOOKUPS = {"lt": "lte", "lte": "lt", "gt": "gte", "gte": "gt"}
GETTEXT = {
    "_",
    "gettext",
    "gettext_lazy",
    "gettext_noop",
    "ngettext",
    "ngettext_lazy",
    "pgettext",
    "pgettext_lazy",
}
FOR_TYPES_ALONE = {"Literal", "TypeVar", "NewType", "cast"}
ONE_STRING = re.compile(r"""[rRuU]?(?P<quotes>\"{3}|'{3}|"|')(?P<text>.*)(?P=quotes)""")


@dataclass(frozen=True)
class Place:
    """One span of a line, and what is put there. Lines count from 1, columns are characters from 0."""

    kind: str
    line: int
    start: int
    end: int
    after: str


def places(source: str) -> list[Place]:
    finder = Finder(source)
    finder.visit(ast.parse(source))
    return sorted(set(finder.found), key=lambda each: (each.line, each.kind, each.start, each.end))


def called(node: ast.expr) -> str:
    """The last name of what is called or subscripted."""
    if isinstance(node, ast.Call | ast.Subscript):
        return called(node.func if isinstance(node, ast.Call) else node.value)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


class Finder(ast.NodeVisitor):
    def __init__(self, source: str) -> None:
        self.lines = source.split("\n")
        self.found: list[Place] = []

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.visit_decorators(node)
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(default)
        for each in node.body:
            self.visit(each)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - ast's name

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.visit_decorators(node)
        for each in (*node.keywords, *node.body):
            self.visit(each)

    def visit_decorators(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call):
                for each in (*decorator.args, *decorator.keywords):
                    self.visit(each)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(default)
        self.visit(node.body)

    # --- what is left alone ----------------------------------------------------------------------------------------

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if not any(isinstance(each, ast.Name) and each.id == "__all__" for each in node.targets):
            self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        """Says something to the type checker."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Columns inside f-strings are right from Python 3.12 on only."""

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if called(node) not in FOR_TYPES_ALONE:
            self.generic_visit(node)

    # --- what is turned --------------------------------------------------------------------------------------------

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):  # a docstring
            return
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(call, ast.Call) and called(call) not in GETTEXT:
            self.add("call dropped", node, node, "pass")
            self.visit_Call(call, has_value=False)
        else:
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call, has_value: bool = True) -> None:
        name = called(node)
        if name in GETTEXT | FOR_TYPES_ALONE:
            return
        first = node.args[0] if node.args and has_value else None
        if first and not isinstance(first, ast.Starred) and (text := self.text(first)):
            self.add("call dropped", node, node, text if is_atom(first) else f"({text})")
        values = [each.value for each in node.keywords if each.arg]
        for side_by_side in (node.args, values):
            for one, other in pairwise(side_by_side):
                self.exchange(one, other)
        for keyword in node.keywords:
            stem, _, lookup = (keyword.arg or "").rpartition("__")
            if stem and lookup in LOOKUPS:
                self.add_span(
                    "comparison turned",
                    keyword.lineno,
                    keyword.col_offset,
                    keyword.col_offset + len(keyword.arg.encode()),
                    f"{stem}__{LOOKUPS[lookup]}",
                )
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for operator, (left, right) in zip(node.ops, pairwise([node.left, *node.comparators]), strict=True):
            self.between("comparison turned", left, right, *COMPARISONS[type(operator)])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in pairwise(node.values):
            self.between("and, or exchanged", left, right, *words)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.Add | ast.Sub):
            signs = ("+", "-") if isinstance(node.op, ast.Add) else ("-", "+")
            self.between("+, - exchanged", node.left, node.right, *signs)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.op, ast.Add | ast.Sub):
            signs = ("+=", "-=") if isinstance(node.op, ast.Add) else ("-=", "+=")
            self.between("+, - exchanged", node.target, node.value, *signs)
        self.generic_visit(node)

    def visit_If(self, node: ast.If | ast.While | ast.IfExp) -> None:
        if called(node.test) != "TYPE_CHECKING":
            self.negate(node.test)
            self.generic_visit(node)

    visit_While = visit_IfExp = visit_If  # noqa: N815 - ast's names

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for each in node.ifs:
            self.negate(each)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        text = self.text(node)
        if isinstance(node.value, bool):
            self.add("constant moved", node, node, str(not node.value))
        elif isinstance(node.value, int | float):
            self.add("constant moved", node, node, repr(node.value + 1))
        elif isinstance(node.value, str) and (one := ONE_STRING.fullmatch(text)):
            two_side_by_side = one["quotes"] in one["text"]
            for_people = re.search(r"\s", text)
            if not (two_side_by_side or for_people):
                self.add("constant moved", node, node, f"{text.removesuffix(one['quotes'])}x{one['quotes']}")

    # --- adding ----------------------------------------------------------------------------------------------------

    def negate(self, test: ast.expr) -> None:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.add_span(
                "condition negated",
                test.lineno,
                test.col_offset,
                test.col_offset + len("not "),
                "",
                test.end_lineno,
            )
        elif text := self.text(test):
            self.add("condition negated", test, test, f"not {text}" if is_atom(test) else f"not ({text})")

    def exchange(self, one: ast.expr, other: ast.expr) -> None:
        first, second = self.text(one), self.text(other)
        if first and second and first != second and one.end_lineno == other.lineno:
            # Where they are given by name, the name of the second.
            between = self.bytes_of(one.lineno)[one.end_col_offset : other.col_offset].decode()
            self.add("arguments exchanged", one, other, f"{second}{between}{first}")

    def between(self, kind: str, left: ast.expr, right: ast.expr, sign: str, other: str) -> None:
        if left.end_lineno != right.lineno:
            return
        start, end = left.end_col_offset or 0, right.col_offset
        text = self.bytes_of(right.lineno)[start:end].decode()
        word = r"\s+".join(map(re.escape, sign.split()))
        if found := re.search(rf"\b{word}\b" if sign[0].isalpha() else word, text):
            shift = len(text[: found.start()].encode())
            self.add_span(kind, right.lineno, start + shift, start + shift + len(found[0].encode()), other)

    def add(self, kind: str, first: ast.AST, last: ast.AST, after: str) -> None:
        if first.lineno == last.end_lineno:
            self.add_span(kind, first.lineno, first.col_offset, last.end_col_offset, after)

    def add_span(
        self, kind: str, line: int, start: int, end: int, after: str, last: int | None = None
    ) -> None:
        """Columns come in bytes, as the syntax tree has them."""
        if last in (None, line):
            text = self.bytes_of(line)
            columns = (len(text[:column].decode()) for column in (start, end))
            self.found.append(Place(kind, line, *columns, after))

    def bytes_of(self, line: int) -> bytes:
        return self.lines[line - 1].encode()

    def text(self, node: ast.expr) -> str:
        """Empty where it goes over several lines."""
        if node.lineno != node.end_lineno:
            return ""
        return self.bytes_of(node.lineno)[node.col_offset : node.end_col_offset].decode()


def is_atom(node: ast.expr) -> bool:
    """Needs no brackets where a call stood."""
    in_brackets = (
        ast.GeneratorExp
        | ast.ListComp
        | ast.SetComp
        | ast.DictComp
        | ast.List
        | ast.Tuple
        | ast.Set
        | ast.Dict
    )
    return isinstance(node, in_brackets | ast.Name | ast.Attribute | ast.Constant | ast.Call | ast.Subscript)

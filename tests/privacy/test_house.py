"""The house rules that carry the privacy argument, read from the sources.

Post-processing cannot see data because it cannot name it; a secret is opened in one
room; the hooks of the tests are out of reach. Every checker is itself checked on code
with a planted fault.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import dpframe

ROOT = Path(dpframe.__file__).parent

#: Rooms from the ground up; on a floor, a room may import those named before it.
FLOORS = (
    ("errors",),
    ("privacy", "noise", "domain", "display"),
    ("queries", "estimands", "models", "releases"),
    ("secret", "engines", "sensitivity"),
    ("mechanisms",),
    ("session",),
    ("plan", "accessor"),
)
ORDER = [room for floor in FLOORS for room in floor]

#: They only hand out names of rooms, and no room imports them.
FACADES = {
    "__init__": ORDER,
    "accounting": ["privacy"],
    "multiplicative_weights": ["models"],
}
KNOWN = {*ORDER, *FACADES, "testing"}

#: Rooms where only public values are, and the rooms they must not name.
PUBLIC = ("queries", "estimands", "models", "releases", "display")
HIDDEN = {
    "secret",
    "engines",
    "sensitivity",
    "mechanisms",
    "session",
    "plan",
    "accessor",
}

HOOKS = {"use_source_for_tests", "watch_draws"}
GENERATORS = {"random", "secrets", "numpy.random", "scipy.stats"}

#: Rows drawn from a released model are post-processing; numpy may draw them here.
DRAWS_ROWS = "models/rounding.py"

Checker = Callable[[str, ast.Module], Iterator[str]]


def room_of(path: str) -> str:
    return Path(path).parts[0].removesuffix(".py")


def imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Every import, in functions and for types too, as module and name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from ((module, alias.name) for alias in node.names)


def rooms_imported(tree: ast.Module) -> Iterator[str]:
    """The rooms of dpframe that a module names; the package itself is "dpframe"."""
    for module, name in imports(tree):
        first, *rest = module.split(".")
        if first == "":
            yield module
        elif first == "dpframe":
            yield rest[0] if rest else name if name in KNOWN else first


def upward_imports(path: str, tree: ast.Module) -> Iterator[str]:
    """A room imports from lower floors and earlier rooms only."""
    room = room_of(path)
    if room == "testing":
        return
    below = FACADES.get(room) or [*ORDER[: ORDER.index(room)], room]
    for other in rooms_imported(tree):
        if other not in below and not (room in FACADES and other in FACADES):
            yield f"{path} imports {other}"


def public_rooms_see_data(path: str, tree: ast.Module) -> Iterator[str]:
    """Post-processing names no room that holds data, not even by text."""
    if room_of(path) not in PUBLIC:
        return
    for other in rooms_imported(tree):
        if other in HIDDEN:
            yield f"{path} imports {other}"
    for module, _ in imports(tree):
        if module.split(".")[0] == "importlib":
            yield f"{path} imports importlib"
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in ("__import__", "exec", "eval"):
            yield f"{path} uses {node.id}"


def secrets_opened(path: str, tree: ast.Module) -> Iterator[str]:
    """Only mechanisms open a secret."""
    if room_of(path) in ("mechanisms", "secret"):
        return
    for node in ast.walk(tree):
        opened = isinstance(node, ast.Attribute) and node.attr == "reveal"
        by_text = isinstance(node, ast.Constant) and node.value == "reveal"
        mangled = isinstance(node, ast.Attribute) and node.attr.endswith("__held")
        if opened or by_text or (mangled and node.attr != "__held"):
            yield f"{path}:{node.lineno} opens a secret"


def test_code_used(path: str, tree: ast.Module) -> Iterator[str]:
    """Nothing imports `dpframe.testing` or touches its hooks."""
    if room_of(path) == "testing":
        return
    if "testing" in rooms_imported(tree):
        yield f"{path} imports testing"
    for node in ast.walk(tree):
        name = getattr(node, "id", None) or getattr(node, "attr", None)
        if name in HOOKS:
            yield f"{path}:{node.lineno} uses {name}"
    for _, name in imports(tree):
        if name in HOOKS:
            yield f"{path} imports {name}"


def other_randomness(path: str, tree: ast.Module) -> Iterator[str]:
    """Random bytes come from `dpframe.noise.bits` alone."""
    if path == "noise/bits.py":
        return
    for module, name in imports(tree):
        if {module, f"{module}.{name}"} & GENERATORS:
            yield f"{path} imports {module} {name}".rstrip()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in ("random", "urandom"):
            if path == DRAWS_ROWS and ast.unparse(node) == "np.random":
                continue
            yield f"{path}:{node.lineno} uses .{node.attr}"


CHECKERS: list[Checker] = [
    upward_imports,
    public_rooms_see_data,
    secrets_opened,
    test_code_used,
    other_randomness,
]
test_code_used.__test__ = False  # a checker, named for what it finds


def sources() -> list[tuple[str, ast.Module]]:
    files = sorted(ROOT.rglob("*.py"))
    return [
        (file.relative_to(ROOT).as_posix(), ast.parse(file.read_text("utf-8")))
        for file in files
    ]


def test_every_module_is_in_a_room():
    rooms = {room_of(path) for path, _ in sources()}
    assert rooms <= {*ORDER, *FACADES, "testing"}
    assert {"errors", "mechanisms", "engines", "releases", "accessor"} <= rooms


@pytest.mark.parametrize("check", CHECKERS, ids=lambda check: check.__name__)
def test_house_rule_is_kept(check):
    found = [text for path, tree in sources() for text in check(path, tree)]
    assert not found, "\n".join(found)


PLANTED = [
    (upward_imports, "noise/laplace.py", "from dpframe.domain.keys import Keys"),
    (upward_imports, "engines/x.py", "from dpframe.mechanisms.spend import Price"),
    (upward_imports, "session.py", "from dpframe.accessor.frame import PrivateFrame"),
    (upward_imports, "domain/x.py", "import dpframe"),
    (upward_imports, "domain/x.py", "from dpframe import Session"),
    (upward_imports, "domain/x.py", "from ..session import Session"),
    (upward_imports, "queries/x.py", "from dpframe import accounting"),
    (upward_imports, "accounting.py", "from dpframe.session import Session"),
    (
        upward_imports,
        "domain/x.py",
        "def f():\n    from dpframe.secret import Secret",
    ),
    (public_rooms_see_data, "releases/x.py", "from dpframe.secret import Secret"),
    (public_rooms_see_data, "display/x.py", "from dpframe.session import Session"),
    (public_rooms_see_data, "estimands/x.py", "import dpframe.engines.ingest"),
    (public_rooms_see_data, "queries/x.py", "from dpframe import mechanisms"),
    (
        public_rooms_see_data,
        "releases/x.py",
        "if TYPE_CHECKING:\n    from dpframe.accessor import PrivateFrame",
    ),
    (public_rooms_see_data, "models/x.py", "from importlib import import_module"),
    (public_rooms_see_data, "models/x.py", "__import__('dpframe.secret')"),
    (secrets_opened, "session.py", "value = secret.reveal()"),
    (secrets_opened, "engines/x.py", "open = secret.reveal\nopen()"),
    (secrets_opened, "releases/x.py", "getattr(secret, 'reveal')()"),
    (secrets_opened, "accessor/x.py", "secret._Secret__held"),
    (test_code_used, "session.py", "from dpframe.testing import replay"),
    (test_code_used, "session.py", "from dpframe import testing"),
    (test_code_used, "engines/x.py", "import dpframe.testing.replay"),
    (
        test_code_used,
        "noise/x.py",
        "from dpframe.noise.bits import use_source_for_tests as use",
    ),
    (test_code_used, "mechanisms/x.py", "with noising.watch_draws(w): pass"),
    (other_randomness, "noise/laplace.py", "import random"),
    (other_randomness, "mechanisms/x.py", "from secrets import token_bytes"),
    (other_randomness, "mechanisms/x.py", "from numpy import random"),
    (other_randomness, "mechanisms/x.py", "np.random.default_rng()"),
    (other_randomness, "engines/x.py", "key = os.urandom(16)"),
    (other_randomness, "models/x.py", "np.random.default_rng(seed)"),
    (other_randomness, DRAWS_ROWS, "import random"),
    (other_randomness, DRAWS_ROWS, "os.urandom(8)"),
]


@pytest.mark.parametrize(("check", "path", "code"), PLANTED)
def test_planted_violation_is_found(check, path, code):
    assert list(check(path, ast.parse(code)))


ALLOWED = [
    (upward_imports, "releases/x.py", "from dpframe.domain.keys import Keys"),
    (upward_imports, "accessor/x.py", "from dpframe.accessor.private import Private"),
    (upward_imports, "__init__.py", "from dpframe import accounting, errors, noise"),
    (public_rooms_see_data, "releases/x.py", "from dpframe.estimands import debias"),
    (secrets_opened, "mechanisms/x.py", "secret.reveal()"),
    (secrets_opened, "accessor/x.py", "self.__held"),
    (test_code_used, "testing/x.py", "from dpframe.noise.bits import x"),
    (other_randomness, "noise/bits.py", "os.urandom(8)"),
    (other_randomness, DRAWS_ROWS, "np.random.default_rng(seed)"),
]


@pytest.mark.parametrize(("check", "path", "code"), ALLOWED)
def test_honest_code_passes(check, path, code):
    assert not list(check(path, ast.parse(code)))

"""Congestion controls in Python: the class to extend, and what identifies one."""

import copy
import hashlib
import inspect
import platform
import traceback


class Controller:
    """A congestion control. Extend it, and name the class, or an object with parameters, as the controller of an arm.

    Each end of a connection has an object of its own, a deep copy. `round` gets a Report once a round trip, with all samples since the last one; `loss`,
    `mark` and `timeout` get one at once. Each may return a Rule, which holds until another one; None changes nothing. A signal without an answer
    halves the window, and a timeout leaves one segment (RFC 5681 §3.1). Loss recovery stays the TCP's own: `ssthresh` is what it aims at.

    Equal reports have to get equal rules: a class that draws lots, reads a clock or keeps state between objects makes runs that cannot be
    repeated, and nothing notices. `random.Random(report.seed)` is a stream that can be repeated. The source of the class and of those it
    extends, the values of its object's attributes and the interpreter's version are part of the identity of its runs; functions and
    constants beside the class are not.
    """

    def start(self, report):
        """The connection is about to send for the first time; the window is the initial one."""

    def round(self, report):
        """All that was in flight at the last round is acknowledged. Not called during fast recovery."""

    def loss(self, report):
        """A loss was detected, and fast recovery begins: once for all losses of a window. `report.outstanding` is RFC 5681's FlightSize."""

    def mark(self, report):
        """The receiver echoed a congestion mark. Answers as to a loss unless a class says otherwise."""
        return self.loss(report)

    def timeout(self, report):
        """The retransmission timer expired; `report.first` says whether for the first time for this data."""

    def undone(self, report):
        """The last reduction was spurious: window and rule are again those from before it."""


class Refused(Exception):
    """What cannot be a controller: a problem and its remedy."""

    def __init__(self, problem, remedy):
        super().__init__(f"{problem}; {remedy}")
        self.refused = (problem, remedy)


def capture(controller):
    """Returns a copy of the object, its class's name, its source with its parameters, and the digest of all that determines it."""
    if isinstance(controller, type):
        name = controller.__qualname__
        if not issubclass(controller, Controller):
            raise Refused(f"class {name} is not a controller", "extend longhaul.Controller")
        try:
            controller = controller()
        except TypeError as error:
            raise Refused(f"class {name} takes parameters: {error}", f"write {name}(…) with their values") from error
    if not isinstance(controller, Controller):
        raise Refused(f"`{controller!r}` is not a controller", "name a class that extends longhaul.Controller, or an object of it")
    name = type(controller).__qualname__
    text = source(type(controller)) + parameters(controller)
    return copy.deepcopy(controller), name, text, digest(name, text)


def source(of_class):
    parts = []
    for each in of_class.__mro__:
        if each is Controller:
            break
        try:
            parts.append(inspect.getsource(each))
        except (OSError, TypeError) as error:
            raise Refused(f"the source of class {each.__qualname__} is not available", "define it in a file or in a notebook") from error
    return "".join(parts)


def parameters(controller):
    """The object's attributes, by name. A value whose text has an address would be another one in each process."""
    lines = []
    for key, value in sorted(vars(controller).items()):
        text = repr(value)
        if " at 0x" in text:
            raise Refused(f"attribute `{key}` of {type(controller).__qualname__}, {text}, has no text of its own", "give its class a __repr__, or make it in start()")
        lines.append(f"{key}={text}\n")
    return "".join(lines)


def digest(name, text):
    interpreter = f"{platform.python_implementation()} {platform.python_version()}"
    return hashlib.sha256(f"{name}\n{interpreter}\n{text}".encode()).hexdigest()[:32]


def arrived(controller, name, text):
    """Returns the digest in this process. A class that was sent by its name has to be the same here; one that was sent whole has no source."""
    try:
        own = source(type(controller)) + parameters(controller)
    except Refused:
        own = text
    if own != text:
        raise Refused(f"class {name} is another one in this process", "install the same version everywhere")
    return digest(name, text)


def explain(controller, name, method, error):
    """Returns a sentence that names class, method and line of an error, and the line's file and number."""
    own = getattr(type(controller), method)
    frames = traceback.extract_tb(error.__traceback__)
    code = inspect.unwrap(own).__code__ if hasattr(inspect.unwrap(own), "__code__") else None
    path, line = (code.co_filename, code.co_firstlineno) if code else (None, None)
    what = f"{type(error).__name__}: {error}"
    if frames:
        path, line = frames[0].filename, frames[0].lineno
    elif isinstance(error, TypeError):
        what = f"it returned something else than a longhaul.Rule or None: {error}"
    where = f"{path}, line {line}" if path else "no file"
    deeper = f" (raised in {frames[-1].filename}, line {frames[-1].lineno})" if len(frames) > 1 else ""
    return f"{name}.{method}, {where}: {what}{deeper}", path, line

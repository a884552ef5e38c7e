"""The stub says what the module has: names, kinds, parameters and their defaults."""

import ast
import inspect
import pathlib

import longhaul
from longhaul import _native

STUB = ast.parse((pathlib.Path(longhaul.__file__).parent / "_native.pyi").read_text())
# Those of every object, or by which Python and pickle work.
ORDINARY = {"__repr__", "__reduce__", "__new__", "__doc__", "__module__", "__weakref__", "__dict__", "_again", "_units", "_make"}


def parameters_of_stub(function):
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(plain) - len(given.defaults)) + [ast.literal_eval(value) for value in given.defaults]
    has_default = [False] * (len(plain) - len(given.defaults)) + [True] * len(given.defaults)
    found = [(arg.arg, default, there) for arg, default, there in zip(plain, defaults, has_default)]
    found += [("*" + given.vararg.arg, None, False)] if given.vararg else []
    for arg, value in zip(given.kwonlyargs, given.kw_defaults):
        found.append((arg.arg, ast.literal_eval(value), True))
    found += [("**" + given.kwarg.arg, None, False)] if given.kwarg else []
    return [parameter for parameter in found if parameter[0] not in ("self", "cls")]


def parameters_of(function):
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        there = parameter.default is not inspect.Parameter.empty
        found.append((stars.get(parameter.kind, "") + name, parameter.default if there else None, there))
    return [parameter for parameter in found if parameter[0] != "self"]


def test_names_are_the_modules():
    stubbed = {node.name for node in STUB.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))} | {"__version__"}
    public = {name for name in vars(_native) if not name.startswith("__")} | {"__version__"}
    # The class to extend is in Python.
    assert stubbed == public == set(longhaul.__all__) - {"Controller"}


def test_functions_have_the_parameters_of_the_stub():
    for node in STUB.body:
        if isinstance(node, ast.FunctionDef):
            function = getattr(_native, node.name)
            assert parameters_of(function) == parameters_of_stub(node), node.name
            assert function.__doc__, node.name


def test_classes_have_the_members_of_the_stub():
    compared = 0
    for node in STUB.body:
        if not isinstance(node, ast.ClassDef):
            continue
        of_class = getattr(_native, node.name)
        assert of_class.__doc__, node.name
        assert [base.id for base in node.bases] == [base.__name__ for base in of_class.__bases__ if base is not object]
        if issubclass(of_class, BaseException):
            continue
        members = {member.name: member for member in node.body}
        if constructor := members.pop("__new__", None):
            assert parameters_of(of_class) == parameters_of_stub(constructor), node.name
        assert set(members) == {name for name in vars(of_class) if name not in ORDINARY}, node.name
        for name, member in members.items():
            found = inspect.getattr_static(of_class, name)
            is_property = any(getattr(mark, "id", "") == "property" for mark in member.decorator_list)
            assert is_property == inspect.isgetsetdescriptor(found), name
            assert found.__doc__, f"{node.name}.{name}"
            if not is_property and not name.startswith("__"):
                assert parameters_of(getattr(of_class, name)) == parameters_of_stub(member), f"{node.name}.{name}"
                is_static = any(getattr(mark, "id", "") == "staticmethod" for mark in member.decorator_list)
                assert is_static == isinstance(found, staticmethod), name
            compared += 1
    assert compared > 40


def test_the_package_says_that_it_is_typed():
    assert (pathlib.Path(longhaul.__file__).parent / "py.typed").exists()

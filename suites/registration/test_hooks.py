"""Hooks of registering parameters, buffers and modules: what they are given, and what becomes of what they do."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.draw.state import registrations
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from fixtures.state.grammar import On, Return, Set
from fixtures.state.kinds import REGISTRATION
from fixtures.state.plan import StatePlan
from suites.hooking import UP_TO_TWO
from suites.saving import NEEDS, OF_BUFFERS, OF_MODULES, OF_PARAMETERS, called, events, seen

ABOUT = (
    "register_module_buffer_registration_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
)
EVERY = (NEEDS["parameter"], NEEDS["buffer"], NEEDS["module"])
SINGLE = '"The hook can modify the input or return a single modified value in the hook"'
WAYS = (
    *(("parameter", "attribute"), ("parameter", "method"), ("buffer", "method")),
    *(("module", "attribute"), ("module", "method")),
)


def each_sort(**options: Any) -> Any:
    """Plans in which parameters, buffers or modules are registered, with hooks of that sort alone."""
    return st.one_of([registrations(sort, way, kinds=(sort,), **options) for sort, way in WAYS])


def value_of(step: Set) -> Any:
    """What a step registers, as a trace shows it."""
    return {"parameter": f"Parameter({step.value})", "buffer": step.value, "module": f"new{step.value}"}[step.sort]


def left_by(hook: On, value: Any) -> Any:
    """What a hook makes of a value: it returns another one, the same or None."""
    another = {"parameter": "Parameter(7)", "buffer": 7, "module": f"of {hook.label}"}[hook.kind]
    return another if Return("another") in hook.do else value


@clause(
    "registration.hooks.given",
    says="A registration hook is given module, name and value before the module has an attribute of that name.",
    where="nothing had that name",
    see="registration.hooks.chain",
    source=(f'{OF_PARAMETERS} "hook(module, name, param) -> None or new parameter"', "measured"),
    asked="arguments of register_module_parameter_registration_hook module name param is it already an attribute",
    needs=EVERY,
)
@given(program=each_sort())
def test_given(subject: Subject, program: StatePlan) -> None:
    sets = [step for step in program.steps if isinstance(step, Set)]
    trace = subject.holds(program)
    assert seen(trace) == [(step.on, step.name, value_of(step), None) for step in sets for _ in program.hooks]


@each(
    Row(
        "registration.hooks.returns_parameter",
        "What a parameter registration hook returns, if not None, is registered in place of the parameter.",
        f"{OF_PARAMETERS} {SINGLE}",
        asked="return other parameter from registration hook replace weights at construction quantize",
        where="no later hook returns something, too",
        needs=NEEDS["parameter"],
        sort="parameter",
    ),
    Row(
        "registration.hooks.returns_buffer",
        "What a buffer registration hook returns, if not None, is registered in place of the buffer.",
        f"{OF_BUFFERS} {SINGLE}",
        asked="return other tensor from buffer registration hook replace buffer",
        where="no later hook returns something, too",
        needs=NEEDS["buffer"],
        sort="buffer",
    ),
    Row(
        "registration.hooks.returns_module",
        "What a module registration hook returns, if not None, is registered in place of the module.",
        f"{OF_MODULES} {SINGLE}",
        asked="replace every Linear by own layer with module registration hook return new module",
        where="no later hook returns something, too",
        needs=NEEDS["module"],
        sort="module",
    ),
    program=lambda row: registrations(row.sort, "method", kinds=(row.sort,), does=("Return",)),
)
def returns(subject: Subject, program: StatePlan, *, row: Any) -> None:
    sets, expected = [step for step in program.steps if isinstance(step, Set)], []
    for step in sets:
        value = value_of(step)
        for hook in program.hooks:
            value = left_by(hook, value)
        expected.append(value)
    held = [found.get(step.name) for step, (_, found) in zip(sets, events(subject.holds(program), "holds"))]
    assert held == expected


@clause(
    "registration.hooks.chain",
    says="Registration hooks run in order of registration; what one returns, if not None, is given to the next.",
    source="measured",
    asked="several parameter registration hooks order and chaining of returned values",
    needs=EVERY,
)
@given(program=each_sort(does=("Return",), most=4))
def test_chain(subject: Subject, program: StatePlan) -> None:
    expected = []
    for step in program.steps[program.steps.index(program.hooks[-1]) + 1 :]:
        value = value_of(step)
        for hook in program.hooks:
            expected.append((hook.label, value))
            value = left_by(hook, value)
    trace = subject.holds(program)
    assert [(label, value) for label, (_, _, value, _) in zip(called(trace), seen(trace))] == expected


@clause(
    "registration.hooks.raises",
    says="What a registration hook raises reaches the caller unchanged, and the value is not registered.",
    where="nothing is loaded with assign=True",
    source="measured",
    asked="raise error in module registration hook forbid layer is it still registered",
    needs=EVERY,
)
@given(program=each_sort(does=("Throw",)))
def test_raises(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    raising = any(hook.do for hook in program.hooks)
    sets = [step for step in program.steps if isinstance(step, Set)]
    assert events(trace, "raises") == [("set", "KeyError")] * (len(sets) if raising else 0)
    held = {name for _, found in events(trace, "holds") for name in found}
    assert bool(held & {step.name for step in sets}) != raising


@clause(
    "registration.hooks.unchecked",
    says="What a module registration hook returns is not checked: a string becomes a child.",
    source="measured",
    asked="module registration hook returned wrong type string in _modules",
    device="none",
    needs=NEEDS["module"],
    value=["a", "a"],
    wrong={"the module is registered": ["a", "Module"], "it raises TypeError": ["TypeError"]},
    witness={"text": "a"},
)
@given(text=st.sampled_from(("a", "b")))
def test_unchecked(subject: Subject, text: str) -> None:
    import torch

    def hook(module: Any, name: str, value: Any) -> Any:
        return text

    handle = torch.nn.modules.module.register_module_module_registration_hook(hook)
    try:
        module = torch.nn.Module()
        module.child = torch.nn.Module()
        found = [module._modules["child"], module.child]
    finally:
        handle.remove()
    assert [str(one).replace(text, "a") for one in found] == subject.value


@clause(
    "registration.hooks.inside_out",
    says="Building Sequential(Linear(1, 1)) calls parameter registration hooks before module registration hooks.",
    source="measured",
    asked="order of registration hooks weight bias then parent when building Sequential of Linear",
    needs=EVERY,
    value="before",
    wrong={"the module comes first": "behind"},
    witness={"number": 2},
)
@given(number=st.integers(1, 3))
def test_inside_out(subject: Subject, number: int) -> None:
    import torch

    names = noting(lambda: torch.nn.Sequential(*(make.Linear(1, 1) for _ in range(number))))
    parameters = [place for place, name in enumerate(names) if name in ("weight", "bias")]
    assert ("before" if parameters == list(range(2 * number)) else "behind") == subject.value


def noting(build: Any) -> Any:
    """The names with which hooks of registering are called while something is built."""
    import torch

    names = []
    everywhere = torch.nn.modules.module

    def hook(module: Any, name: str, value: Any) -> None:
        names.append(name)

    handles = [getattr(everywhere, f"register_module_{sort}_registration_hook")(hook) for sort in REGISTRATION]
    try:
        build()
    finally:
        for handle in handles:
            handle.remove()
    return names


@clause(
    "registration.hooks.containers",
    says="Building a Sequential, ModuleList or ModuleDict calls the module registration hooks once for each entry.",
    source=f'{OF_MODULES} "will be called every time :func:`register_module` is invoked"',
    asked="Sequential ModuleList ModuleDict trigger module registration hook for each layer",
    device="none",
    needs=EVERY,
    value=1,
    wrong={"they call none": 0, "they call them twice": 2},
    witness={"number": 2},
)
@given(number=st.integers(1, 4))
def test_containers(subject: Subject, number: int) -> None:
    import torch

    modules = [torch.nn.Module() for _ in range(number)]
    places = [str(place) for place in range(number)]
    for build in (
        lambda: torch.nn.Sequential(*modules),
        lambda: torch.nn.ModuleList(modules),
        lambda: torch.nn.ModuleDict(zip(places, modules)),
    ):
        assert sorted(noting(build)) == sorted(places * subject.value)


@clause(
    "registration.hooks.insert",
    says="insert() of a ModuleList calls no module registration hook.",
    source="measured",
    asked="ModuleList insert layer module registration hook not called",
    device="none",
    needs=NEEDS["module"],
    value=[],
    wrong={"it calls them for the module that is new": ["0"]},
    witness={"number": 2},
)
@given(number=st.integers(1, 4))
def test_insert(subject: Subject, number: int) -> None:
    import torch

    modules = torch.nn.ModuleList([torch.nn.Module() for _ in range(number)])
    assert noting(lambda: modules.insert(0, torch.nn.Module())) == subject.value


@clause(
    "registration.hooks.buffer_class",
    says="A torch.nn.Buffer that is set as a new attribute calls the buffer registration hooks.",
    source="measured",
    asked="nn.Buffer attribute triggers buffer registration hook",
    needs="torch.nn.Buffer",
    about="register_module_buffer_registration_hook",
    value=["x"],
    wrong={"it calls none, as a plain tensor": []},
    witness={"persistent": True},
)
@given(persistent=st.booleans())
def test_buffer_class(subject: Subject, persistent: bool) -> None:
    import torch

    module = torch.nn.Module()
    buffer = torch.nn.Buffer(make.zeros(1), persistent=persistent)
    assert noting(lambda: setattr(module, "x", buffer)) == subject.value


@clause(
    "registration.hooks.parameter_containers",
    says="Building a ParameterList or ParameterDict of parameters calls parameter registration hooks once per entry.",
    source="measured",
    asked="ParameterList ParameterDict trigger parameter registration hook",
    needs=EVERY,
    value=1,
    wrong={"they call none": 0, "they call them twice": 2},
    witness={"number": 2},
)
@given(number=st.integers(1, 4))
def test_parameter_containers(subject: Subject, number: int) -> None:
    import torch

    parameters = [torch.nn.Parameter(make.zeros(1)) for _ in range(number)]
    places = [str(place) for place in range(number)]
    for build in (
        lambda: torch.nn.ParameterList(parameters),
        lambda: torch.nn.ParameterDict(zip(places, parameters)),
    ):
        assert sorted(noting(build)) == sorted(places * subject.value)


@clause(
    "registration.hooks.pickled",
    says="pickle.loads() and copy.deepcopy() of a module call no registration hook.",
    source="measured",
    asked="torch.load whole model does it call registration hooks",
    needs=EVERY,
    value=[],
    wrong={"it calls them for its parameters": ["bias", "weight"]},
    witness={"copies": True, "depth": 0},
)
@given(copies=st.booleans(), depth=UP_TO_TWO)
def test_pickled(subject: Subject, copies: bool, depth: int) -> None:
    import copy
    import pickle

    import torch

    module = make.Linear(1, 1)
    for _ in range(depth):
        module = torch.nn.Sequential(module)
        module.scale = torch.nn.Parameter(make.zeros(1))
    text = pickle.dumps(module)
    assert sorted(noting(lambda: copy.deepcopy(module) if copies else pickle.loads(text))) == subject.value

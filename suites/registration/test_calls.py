"""Hooks of registering parameters, buffers and modules: what calls them, and what does not."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.draw.state import programs, registrations
from fixtures.judge.subject import Subject
from fixtures.state.grammar import Load, Off, On, Save, Set
from fixtures.state.plan import StatePlan
from suites.saving import ASSIGN, NEEDS, OF_BUFFERS, OF_MODULES, OF_PARAMETERS, called, keys, numbers, prefixes, seen

EVERY = (NEEDS["parameter"], NEEDS["buffer"], NEEDS["module"])
BUFFER_INVOKED = f'{OF_BUFFERS} "will be called every time :func:`register_buffer` is invoked"'
MODULE_INVOKED = f'{OF_MODULES} "will be called every time :func:`register_module` is invoked"'


def of_sort(program: StatePlan, sort: str) -> Any:
    """The hooks of one sort, and the steps behind the first hook that register a value."""
    first = next(place for place, step in enumerate(program.steps) if isinstance(step, On))
    sets = [step for step in program.steps[first:] if isinstance(step, Set)]
    return [hook.label for hook in program.hooks if hook.kind == sort], sets


@each(
    Row(
        "registration.calls.parameter_attribute",
        "A parameter that is set as an attribute of a module calls the parameter registration hooks, once each.",
        "measured",
        asked="global hook when self.weight = nn.Parameter is assigned intercept parameter creation",
        needs=NEEDS["parameter"],
        sort="parameter",
        way="attribute",
    ),
    Row(
        "registration.calls.parameter_method",
        "register_parameter() with a parameter calls the parameter registration hooks, once each.",
        f'{OF_PARAMETERS} "will be called every time :func:`register_parameter` is invoked"',
        asked="intercept register_parameter global hook for every parameter of every layer",
        needs=NEEDS["parameter"],
        sort="parameter",
        way="method",
    ),
    Row(
        "registration.calls.buffer_attribute",
        "A plain tensor that is assigned to the attribute of a buffer calls the buffer registration hooks.",
        "measured",
        asked="reassign running_mean buffer attribute triggers buffer registration hook",
        needs=NEEDS["buffer"],
        sort="buffer",
        way="attribute",
    ),
    Row(
        "registration.calls.buffer_method",
        "register_buffer() calls the buffer registration hooks, once each.",
        BUFFER_INVOKED,
        asked="intercept register_buffer with global hook for all modules",
        needs=NEEDS["buffer"],
        sort="buffer",
        way="method",
    ),
    Row(
        "registration.calls.module_attribute",
        "A module that is set as an attribute of a module calls the module registration hooks, once each.",
        "measured",
        asked="hook called when a submodule is assigned self.layer = nn.Linear global",
        needs=NEEDS["module"],
        sort="module",
        way="attribute",
    ),
    Row(
        "registration.calls.module_method",
        "add_module() calls the module registration hooks, once each.",
        MODULE_INVOKED,
        asked="add_module triggers register_module_module_registration_hook",
        needs=NEEDS["module"],
        sort="module",
        way="method",
    ),
    program=lambda row: registrations(row.sort, row.way, kinds=(row.sort,)),
)
def set_in_a_way(subject: Subject, program: StatePlan, *, row: Any) -> None:
    hooks, sets = of_sort(program, row.sort)
    assert called(subject.holds(program)) == hooks * len(sets)


@each(
    Row(
        "registration.calls.parameter_again",
        "A parameter assigned where there is a parameter already calls the parameter registration hooks again.",
        "measured",
        asked="replace existing weight parameter is registration hook called again",
        needs=NEEDS["parameter"],
        sort="parameter",
    ),
    Row(
        "registration.calls.buffer_again",
        "register_buffer() of a name that is a buffer already calls the buffer registration hooks again.",
        BUFFER_INVOKED,
        asked="register_buffer same name twice registration hook called each time",
        needs=NEEDS["buffer"],
        sort="buffer",
        way="method",
    ),
    Row(
        "registration.calls.module_again",
        "A module that is assigned where there is a module already calls the module registration hooks again.",
        "measured",
        asked="swap layer model.fc = new head triggers module registration hook again",
        needs=NEEDS["module"],
        sort="module",
    ),
    program=lambda row: registrations(row.sort, getattr(row, "way", "attribute"), kinds=(row.sort,), again=True),
)
def set_again(subject: Subject, program: StatePlan, *, row: Any) -> None:
    hooks, sets = of_sort(program, row.sort)
    trace = subject.holds(program)
    assert called(trace) == hooks * len(sets)
    assert all(one[3] is not None for one in seen(trace))


@each(
    Row(
        "registration.calls.none_parameter",
        "register_parameter(name, None), or None set in place of a parameter, calls no parameter registration hook.",
        (OF_PARAMETERS, "https://github.com/pytorch/pytorch/pull/86148"),
        asked="Linear bias=False parameter registration hook not called for None",
        needs=NEEDS["parameter"],
        docs="contradicts",
        sort="parameter",
        calls=0,
    ),
    Row(
        "registration.calls.none_buffer",
        "register_buffer(name, None), or None set in place of a buffer, calls buffer registration hooks with None.",
        BUFFER_INVOKED,
        asked="register_buffer None hook receives None buffer",
        needs=NEEDS["buffer"],
        sort="buffer",
        calls=1,
    ),
    Row(
        "registration.calls.none_module",
        "add_module(name, None), or None set in place of a module, calls module registration hooks with None.",
        MODULE_INVOKED,
        asked="set child module to None registration hook gets None",
        needs=NEEDS["module"],
        sort="module",
        calls=1,
    ),
    program=lambda row: st.one_of(
        registrations(row.sort, "method", kinds=(row.sort,), values=(None,)),
        registrations(row.sort, "attribute", kinds=(row.sort,), values=(None,)),
    ),
)
def set_none(subject: Subject, program: StatePlan, *, row: Any) -> None:
    hooks, sets = of_sort(program, row.sort)
    trace = subject.holds(program)
    assert called(trace) == hooks * len(sets) * row.calls
    assert all(one[2] is None for one in seen(trace))


@clause(
    "registration.calls.own_sort",
    says="Registering a parameter, a buffer or a module calls the registration hooks of that sort only.",
    source="measured",
    asked="module registration hook fired for parameters or only for modules",
    needs=EVERY,
)
@given(
    program=st.one_of(
        registrations("parameter", "attribute", most=4),
        registrations("buffer", "method", most=4),
        registrations("module", "attribute", most=4),
    )
)
def test_own_sort(subject: Subject, program: StatePlan) -> None:
    hooks, sets = of_sort(program, program.steps[-1].sort)
    assert called(subject.holds(program)) == hooks * len(sets)


@clause(
    "registration.calls.not",
    says="del, to(), copy.deepcopy(), state_dict() and load_state_dict() call no registration hook.",
    where="nothing is loaded with assign=True",
    source="measured",
    asked="model.to cuda or deepcopy calls parameter registration hook",
    needs=EVERY,
)
@given(
    program=programs(
        kinds=("parameter", "buffer", "module"),
        does=(),
        steps=("load", "save", "delete", "copy", "convert"),
        runs=4,
        plain=True,
    )
)
def test_not(subject: Subject, program: StatePlan) -> None:
    assert called(subject.holds(program)) == []


@st.composite
def assigning(draw: Any) -> StatePlan:
    """A dict that is loaded with assign=True; some keys may not be in it."""
    program = draw(programs(kinds=("parameter", "buffer"), does=(), steps=("load",), runs=1, plain=True))
    every = keys(program.tree)
    less = draw(st.lists(st.sampled_from(every), max_size=1)) if every else ()
    load = Load(strict=False, assign=True, form="dict", less=tuple(less))
    return StatePlan(program.tree, (*program.hooks, Save(), load))


@clause(
    "registration.calls.assign",
    says="load_state_dict(assign=True) calls registration hooks for each parameter and buffer that it replaces.",
    source=("https://github.com/pytorch/pytorch/pull/102212", "measured"),
    asked="load_state_dict assign=True triggers parameter registration hooks meta device",
    needs=(ASSIGN, NEEDS["parameter"], NEEDS["buffer"]),
)
@given(program=assigning())
def test_assign(subject: Subject, program: StatePlan) -> None:
    expected, inner = [], prefixes(program.tree)
    for module in program.tree.all():
        for key, number in numbers(program.tree, [module.name]).items():
            if key in program.steps[-1].less:
                continue
            name = key[len(inner[module.name]) :]
            value, sort = (number, "buffer") if name == "n" else (f"Parameter({number})", "parameter")
            hooks = [hook.label for hook in program.hooks if hook.kind == sort]
            expected += [(label, (module.name, name, value, value)) for label in hooks]
    trace = subject.holds(program)
    assert list(zip(called(trace), seen(trace))) == expected


@clause(
    "registration.calls.tensor",
    says="A tensor that is no Parameter or Buffer, set as a new attribute, calls no registration hook.",
    source="measured",
    asked="plain tensor attribute on module does not call buffer registration hook",
    needs=EVERY,
    about=("register_module_buffer_registration_hook", "register_module_parameter_registration_hook"),
)
@given(program=registrations("buffer", "attribute", does=(), fresh=True))
def test_tensor(subject: Subject, program: StatePlan) -> None:
    assert called(subject.holds(program)) == []


@st.composite
def removing(draw: Any) -> StatePlan:
    """Values that are registered, and again after some of the hooks are removed."""
    sort, way = draw(st.sampled_from((("parameter", "attribute"), ("buffer", "method"), ("module", "attribute"))))
    program = draw(registrations(sort, way, kinds=(sort,)))
    hooks, sets = of_sort(program, sort)
    gone = draw(st.lists(st.sampled_from(hooks), min_size=1, unique=True))
    return StatePlan(program.tree, (*program.steps, *map(Off, gone), *sets))


@clause(
    "registration.calls.removed",
    says="A registration hook is not called after its handle has removed it.",
    source=f'{OF_PARAMETERS} "a handle that can be used to remove the added hook by calling"',
    asked="unregister global parameter registration hook handle remove",
    needs=EVERY,
)
@given(program=removing())
def test_removed(subject: Subject, program: StatePlan) -> None:
    hooks, sets = of_sort(program, program.steps[-1].sort)
    gone = [step.label for step in program.steps if isinstance(step, Off)]
    kept = [label for label in hooks if label not in gone]
    assert called(subject.holds(program)) == hooks * (len(sets) // 2) + kept * (len(sets) // 2)

"""What becomes of an error that always_call hooks meet, and of what they return or raise after it."""

import warnings

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from suites.hooking import raised
from suites.names import ALWAYS_CALL, ALWAYS_TEST, CODE, FORWARD_HOOK

#: What is no Exception and may end a program.
ENDINGS = (KeyboardInterrupt, SystemExit, GeneratorExit)
#: What fails in a call.
WHERE = st.sampled_from(["forward", "pre-hook", "hook"])


def failing_in(where, fail):
    """A module that returns its argument, in whose call `fail` is called: as forward, or as a hook."""
    import torch

    module = torch.nn.Identity()
    if where == "forward":
        module.forward = fail
    else:
        (module.register_forward_pre_hook if where == "pre-hook" else module.register_forward_hook)(fail)
    return module


@clause(
    "output.always.error_stands",
    says="If forward raises, that error leaves the call, whatever always_call hooks return or raise.",
    where="str() of errors works",
    see=("output.always.base_exceptions", "output.always.changed_under_way"),
    source=(f'{CODE} "that was silenced as another error was raised in forward"', ALWAYS_TEST),
    asked="can a cleanup callback swallow exception and give fallback result try except "
    "around layer suppress always_call cleanup finally exception in forward",
    device="none",
    needs=ALWAYS_CALL,
    value=lambda first, output, errors: first,
    wrong={
        "never what a hook returned": lambda first, output, errors: first if output in (None, "made") else output,
        "never the last": lambda first, output, errors: [first, *errors][-1],
    },
    witness={"where": "forward", "hooks": [(True, "return"), (True, "raise")]},
)
@given(
    where=WHERE,
    hooks=st.lists(st.tuples(st.booleans(), st.sampled_from(["observe", "return", "raise"])), min_size=1, max_size=5),
)
def test_error_stands(subject: Subject, where, hooks) -> None:
    first, errors, seen, due = ValueError(where), [], [], []

    def fail(*given):
        raise first

    module, output = failing_in(where, fail), "made" if where == "hook" else None
    for number, (always, act) in enumerate(hooks):

        def hook(module, args, output, number=number, act=act):
            seen.append((number, args, output))
            if act == "raise":
                errors.append(LookupError(number))
                raise errors[-1]
            return number if act == "return" else None

        module.register_forward_hook(hook, always_call=always)
        if always:
            due.append((number, ("made",), output))
            output = number if act == "return" else output
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            left = module("made")
        except (ValueError, LookupError) as error:
            left = error
    assert left is subject.value(first, output, errors)
    assert seen == due


@clause(
    "output.always.only_exceptions",
    says="When KeyboardInterrupt, SystemExit or GeneratorExit ends a call, no always_call hook runs because of it.",
    source=("measured", FORWARD_HOOK),
    asked="ctrl c interrupt training cleanup callback not called despite always_call "
    "baseexception always_call cleanup finally exception in forward",
    device="none",
    needs=ALWAYS_CALL,
    docs="contradicts",
    value=Exception,
    wrong={"never all": BaseException},
    witness={"errors": [KeyboardInterrupt], "where": "forward", "always": [True]},
)
@given(
    errors=st.lists(st.sampled_from([*ENDINGS, ValueError, StopIteration, RecursionError]), min_size=1, max_size=3),
    where=WHERE,
    always=st.lists(st.booleans(), min_size=1, max_size=4),
)
def test_only_exceptions(subject: Subject, errors, where, always) -> None:
    def fail(*given):
        raise (given if where == "forward" else given[1])[0]

    ran, module = [], failing_in(where, fail)
    for number, flag in enumerate(always):
        module.register_forward_hook(lambda module, args, output, number=number: ran.append(number), always_call=flag)
    for error in errors:
        ran.clear()
        try:
            module(error)
        except error:
            due = [number for number, flag in enumerate(always) if flag and issubclass(error, subject.value)]
            assert ran == due
        else:
            raise AssertionError("the error did not leave the call")


@clause(
    "output.always.silenced_is_warned",
    says="An Exception of an always_call hook that runs because a call failed becomes one UserWarning.",
    where=("the warning filter is 'always'", "str() of the Exception works"),
    source=f'{CODE} "that was silenced as another error was raised in forward"',
    asked="my cleanup callback crashes but no error shown swallowed only warning message "
    "silently ignored exception always_call cleanup finally exception in forward",
    device="none",
    needs=ALWAYS_CALL,
    value=1,
    wrong={"never quiet": 0},
    witness={"where": "forward", "fails": [True]},
)
@given(where=WHERE, fails=st.lists(st.booleans(), min_size=1, max_size=5))
def test_silenced_is_warned(subject: Subject, where, fails) -> None:
    def fail(*given):
        raise ValueError(where)

    module, ran = failing_in(where, fail), []

    def also(module, args, output):
        ran.append(len(ran))
        if fails[ran[-1]]:
            raise LookupError(args)

    for _ in fails:
        module.register_forward_hook(also, always_call=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        left = raised(lambda: module(1), ValueError, LookupError)
    assert [warning.category for warning in caught] == [UserWarning] * sum(fails) * subject.value
    assert all(str(warning.message).startswith("module forward hook with ``always_call=True``") for warning in caught)
    assert (ran, left) == (list(range(len(fails))), "ValueError")


@clause(
    "output.always.base_exceptions",
    says="A KeyboardInterrupt or SystemExit that an always_call hook raises takes the place of the first error.",
    source=("measured", FORWARD_HOOK),
    asked="ctrl c sys.exit inside cleanup callback during crash original exception "
    "lost replaced exit always_call cleanup finally exception in forward",
    device="none",
    needs=ALWAYS_CALL,
    value=Exception,
    wrong={"the first": BaseException},
    witness={"errors": [KeyboardInterrupt]},
)
@given(errors=st.lists(st.sampled_from([*ENDINGS, ValueError]), max_size=4))
def test_base_exceptions(subject: Subject, errors) -> None:
    def fail():
        raise LookupError

    ran, module = [], failing_in("forward", fail)
    for error in errors:

        def hook(module, args, output, error=error):
            ran.append(error)
            raise error

        module.register_forward_hook(hook, always_call=True)
    ends = [place for place, error in enumerate(errors) if not issubclass(error, subject.value)][:1]
    expected = errors[ends[0]] if ends else LookupError
    with warnings.catch_warnings():
        # What is silenced is warned of: output.always.silenced_is_warned.
        warnings.simplefilter("ignore")
        left = raised(module, LookupError, *ENDINGS)
    assert left == expected.__name__
    assert ran == (errors[: ends[0] + 1] if ends else errors)

"""Claims about how a module keeps and calls its hooks."""

from reports.tutorial.claim import ABSENT, Answer, Claim

CLAIMS = (
    Claim(
        "tutorial.calling.t30_three_kinds",
        "The call of a module knows forward pre-hooks, forward hooks and backward hooks of its own, no more.",
        source=(
            "docs: torch.nn.Module",
            (
                "docs: torch.nn.modules.module.register_module_forward_hook"
                ' "Register a global forward hook for all the modules"'
            ),
        ),
        answers=(
            Answer(
                "true",
                "<1.6",
                "The call of a module knows three kinds of hook, all its own.",
                {"ordering.between.global_forward_first": ABSENT},
            ),
            Answer(
                "false since 1.6",
                ">=1.6,<1.8",
                "The call of a module also runs global hooks, of the same three kinds.",
                {"ordering.between.global_forward_first": "always", "backward.given.one_entry_each": ABSENT},
                effect="silent",
            ),
            Answer(
                "false since 1.8",
                ">=1.8,<2.0",
                "The call of a module also runs full backward hooks, and global hooks of each kind.",
                {"backward.given.one_entry_each": "always", "ordering.between.global_full_backward_pre_first": ABSENT},
                effect="silent",
            ),
            Answer(
                "false",
                ">=2.0",
                "The call of a module also runs full backward hooks and pre-hooks, and global hooks of each kind.",
                {"ordering.between.global_full_backward_pre_first": "always"},
                effect="silent",
            ),
        ),
        about=("register_backward_hook", "register_forward_hook", "register_forward_pre_hook"),
        asked="what types of nn.module hooks exist list overview which callbacks are available state_dict load",
    ),
    Claim(
        "tutorial.calling.t14_three_dicts",
        "A module keeps forward and backward hooks in three OrderedDicts, each under its handle's id.",
        source=("docs: torch.nn.Module", "docs: torch.nn.Module.register_full_backward_pre_hook", "measured"),
        answers=(
            Answer(
                "true",
                "<2.0",
                "Hooks are in _forward_pre_hooks, _forward_hooks and _backward_hooks, each under its handle's id.",
                {"handles.handle.four_dicts": "three"},
            ),
            Answer(
                "false",
                ">=2.0",
                "Full backward pre-hooks of a module are in a fourth dict, _backward_pre_hooks.",
                {"handles.handle.four_dicts": "four"},
                effect="silent",
            ),
        ),
        about=("register_full_backward_pre_hook",),
        asked="where are hooks stored _forward_hooks _forward_pre_hooks _backward_hooks internal list inspect clear "
        "all",
    ),
    Claim(
        "tutorial.calling.t29_only_call",
        "module(x) runs the hooks of a module; module.forward(x) only those of the modules that it calls.",
        source=('docs: torch.nn.Module.forward "the former takes care of running the registered hooks"',),
        answers=(
            Answer(
                "true",
                "",
                "module.forward(x) runs no hook of that module, and global hooks only for the modules that it calls.",
                {"output.calls.forward_runs_none": "always"},
            ),
        ),
        about=(
            "register_backward_hook",
            "register_forward_hook",
            "register_forward_pre_hook",
            "register_full_backward_hook",
            "register_full_backward_pre_hook",
            "register_module_backward_hook",
            "register_module_forward_hook",
            "register_module_forward_pre_hook",
            "register_module_full_backward_hook",
            "register_module_full_backward_pre_hook",
        ),
        asked="why is my hook not triggered when invoking model.forward directly submodules still fire",
    ),
    Claim(
        "tutorial.calling.t15_global_first",
        "Of every kind of hook, the global ones run before the module's own.",
        source=(
            (
                "docs: torch.nn.modules.module.register_module_forward_hook"
                ' "This hook will be executed before specific module hooks"'
            ),
            'docs: torch.nn.modules.module.register_module_full_backward_hook "will be called before hooks registered"',
        ),
        answers=(
            Answer(
                "true",
                "",
                "Global hooks run before a module's own of the same kind, whatever was registered first.",
                {
                    "ordering.between.global_forward_first": "always",
                    "ordering.between.global_forward_pre_first": "always",
                    "ordering.between.global_legacy_first": "always",
                    "ordering.between.global_full_backward_first": ("always", ABSENT),
                    "ordering.between.global_full_backward_pre_first": ("always", ABSENT),
                    "ordering.between.global_before_prepended": ("always", ABSENT),
                },
            ),
        ),
        about=("register_forward_hook", "register_module_forward_hook"),
        needs="torch.nn.modules.module.register_module_forward_pre_hook",
        asked="register_module_forward_hook precedence versus layer specific callbacks which fires earlier",
    ),
    Claim(
        "tutorial.calling.t32_every_time",
        "A hook runs every time: at each forward call of its module, at each backward through it.",
        source=(
            'docs: torch.nn.Module.register_forward_hook "The hook will be called every time after"',
            'docs: torch.Tensor.register_hook "will be called every time a gradient"',
        ),
        answers=(
            Answer(
                "true",
                "",
                "A hook runs once for each call of its module, also of a module that one forward calls twice.",
                {
                    "ordering.nested.shared_forward": "always",
                    "output.many.calls": "always",
                    "backward.many.everywhere": "always",
                    "gradient.replace.every_backward": "always",
                },
            ),
        ),
        about=("register_forward_hook", "register_hook"),
        note="So activation checkpointing, which calls forward again during backward, runs forward hooks twice.",
        asked="do hooks fire once or repeatedly training loop each iteration until unregister handle",
    ),
    Claim(
        "tutorial.calling.t31_any_callable",
        "Lambdas, closures, partials and bound methods are all fine as hooks.",
        source=(
            "test: test/test_autograd.py TestAutograd.test_hook_with_no_name",
            "https://github.com/pytorch/pytorch/pull/37785",
        ),
        answers=(
            Answer(
                "true",
                ">=1.6",
                "Lambdas, closures, partials and bound methods are called as hooks of modules and of tensors.",
                {"gradient.functions.without_a_name": "may", "handles.functions.on_a_module": "always"},
            ),
            Answer(
                "false",
                "<1.6",
                "After a tensor hook without __name__, such as a partial, replaced a "
                "gradient, the next backward raises.",
                {"gradient.functions.without_a_name": "next pass raises", "handles.functions.on_a_module": "always"},
                effect="error",
            ),
        ),
        about=("register_forward_hook", "register_hook"),
        note="Being called is all that is said: a module with a lambda for a hook cannot be pickled.",
        asked="can hook be class method or functools.partial to pass layer name extra arguments",
    ),
)

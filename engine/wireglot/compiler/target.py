"""Where the parts of a message go: the list holes of the target's message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..language.model import Case, Group
from ..language.picture import Hole
from .symbols import Cannot, Code, Const, NoFit, Sym
from .symwrite import write

if TYPE_CHECKING:
    from .compile import Pair


class Target:
    """Where the parts of a message go in the target."""

    def __init__(
        self, pair: Pair, group: Group | None, case: Case | None, holes: list[Hole]
    ) -> None:
        if not holes or any(h.shape is None for h in holes):
            raise Cannot
        if sum("bare" in h.lenses for h in holes) > 1:
            raise Cannot
        self.pair, self.group, self.case, self.holes = pair, group, case, holes
        self.bare = len(holes) == 1 and "bare" in holes[0].lenses and group is not None
        by_model = case is not None and pair.talk.role(case) == "assistant"
        asked = pair.talk.enforce if by_model else ()
        self.refused = {kind for word, kind in asked if word == "user-only"}

    def accumulators(self) -> list[str]:
        """Return the variables that collect the wires of each list hole."""
        return ["w"] if len(self.holes) == 1 else [f"w{i}" for i in range(len(self.holes))]

    def sink(self, _: Code, *accs: str, alone: bool = False) -> Any:
        """Return what writes the code for one part; `alone` says it is the only one."""
        add = "{} = [{}]" if alone else "{}.append({})"

        def put(code: Code, obj: dict[str, Sym]) -> None:
            last: Exception = Cannot()
            kind = obj.get("type")
            if isinstance(kind, Const) and kind.value in self.refused:
                raise Cannot
            for i, hole in enumerate(self.holes):
                if hole.dated:
                    continue
                piece = code.fork()
                acc = accs[i]
                try:
                    write(
                        piece,
                        self.pair.target,
                        hole.shape or "",
                        obj,
                        self.pair.limit,
                        self.pair.lose,
                        lambda c, x, a=acc: c(add.format(a, x)),  # type: ignore[misc]
                    )
                except (Cannot, NoFit) as error:
                    last = error
                    continue
                for other in accs[i + 1 : len(self.holes)]:
                    code(f"if {other}: raise ODD")
                code.join(piece)
                return
            raise Cannot from last

        return put

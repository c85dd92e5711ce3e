"""A stage of Ray Data: each row is converted where it lies, on any machine of a cluster.

    import wireglot.ray
    dataset = wireglot.ray.convert(dataset, source=ONE, target=ANOTHER)

It needs the extra `ray`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .batch.job import Job
from .jsontext import stringify

if TYPE_CHECKING:
    from ray.data import Dataset

    from .loading.rulesources import Source
    from .policy import Policy


def convert(
    dataset: Dataset,
    source: str,
    target: str,
    unit: str = "request",
    model: str | None = None,
    *,
    column: str = "body",
    options: Mapping[str, Any] | None = None,
    policy: Mapping[str, str] | Policy | None = None,
    rules: Sequence[Source] = (),
    overlays: Sequence[str] = (),
    notes: str = "notes",
    error: str = "error",
    **stage: Any,
) -> Dataset:
    """Convert one column of a data set; all others stay.

    Args:
        dataset: A data set of Ray Data.
        source: The dialect of the values.
        target: The dialect to write.
        unit: What a value is: a whole request, or a piece of one.
        model: The model, where the values do not name it.
        column: The column of the values, each a JSON text. What came out stands there again; of a
            value that was refused, what was given.
        options: As `wireglot.convert` takes them.
        policy: As `wireglot.convert` takes it; a value with a note that it forbids is refused.
        rules: Rule files of your own. Their texts travel with the job: no other machine needs them.
        overlays: Names of overlays to switch on.
        notes: The column for the notes of each value, a JSON list of objects.
        error: The column that says why a value was refused; empty where it was not.
        **stage: What `map_batches` of Ray takes besides, as `compute` or `num_cpus`.

    Returns:
        The data set with this stage; Ray runs it when rows are asked for.

    Raises:
        RuleError: A rule file is wrong.
        UsageError: A dialect, overlay or option does not exist.
    """
    job = Job(
        source, target, unit, model, options, policy, tuple(rules), tuple(overlays)
    ).carrying()
    job.ready()  # what is wrong with it is said here, and not by each machine
    given = {"job": job, "columns": (column, notes, error)}
    if not stage.keys() & {"compute", "concurrency"}:
        from ray.data import ActorPoolStrategy

        stage["compute"] = ActorPoolStrategy(min_size=1)  # grows with what the cluster has
    return dataset.map_batches(Stage, fn_constructor_kwargs=given, batch_format="numpy", **stage)


class Stage:
    """Converts a column of rows, in a process that loads the rules once."""

    def __init__(self, job: Job, columns: tuple[str, str, str]) -> None:
        self.converter, self.columns = job.ready(), columns

    def __call__(self, rows: dict[str, Any]) -> dict[str, Any]:
        """Return columns with what came out, the notes and the errors in them."""
        column, notes, error = self.columns
        made = [self._one(text) for text in rows[column]]
        for name, values in zip((column, notes, error), zip(*made, strict=True), strict=True):
            rows[name] = list(values)
        return rows

    def _one(self, text: str) -> tuple[str, str, str]:
        done = self.converter.text(text)
        told = stringify([note._asdict() for note in done.notes])
        if done.error is not None:
            return text, told, str(done.error)
        return stringify(done.value), told, ""

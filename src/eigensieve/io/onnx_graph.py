"""From a plan to an ONNX graph: nothing but small, old operators, in one floating-point type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError, MissingExtraError
from ..pencil.checks import check_choice
from .onnx_plan import LinearScores, NearestRows, OnnxPlan

OPSET = 13  # the first whose Softmax takes an axis
IR_VERSION = 7  # that of onnx 1.8, which brought opset 13
FLOATS = {"float64": np.float64, "float32": np.float32}
STEP_OPERATORS = {"subtract": "Sub", "divide": "Div", "multiply": "Mul"}


def import_onnx() -> Any:
    """The onnx package, or which extra brings it."""
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("onnx", "onnx") from error
    return onnx


class GraphBuilder:
    """Nodes, constants, inputs and outputs of a graph, in the order in which they are added."""

    def __init__(self, dtype: str) -> None:
        check_choice(dtype, "dtype", FLOATS)
        self._onnx = import_onnx()
        self._dtype = FLOATS[dtype]
        self._float = self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(self._dtype))
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    # -- parts of a graph ---------------------------------------------------------------

    def add(self, operator: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        """One node; the name of its result."""
        result = name or f"{operator.lower()}_{len(self._nodes)}"
        self._nodes.append(
            self._onnx.helper.make_node(operator, list(inputs), [result], **attributes)
        )
        return result

    def numbers(self, values: np.ndarray, what: str) -> str:
        """A constant of the graph's floating-point type; a large value must not become infinite."""
        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(values, dtype=self._dtype)
        if not np.isfinite(array).all():
            raise InputError(
                f"{what} has values that {np.dtype(self._dtype)} cannot hold; use dtype='float64'"
            )
        return self.constant(array, what)

    def constant(self, array: np.ndarray, what: str) -> str:
        """A constant of the array's own type."""
        name = f"{what}_{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def table(self, name: str, n_columns: int) -> str:
        """An input [N, n_columns]."""
        shape = ["N", n_columns]
        self._inputs.append(self._onnx.helper.make_tensor_value_info(name, self._float, shape))
        return name

    def give(self, result: str, name: str, shape: Sequence[Any], kind: int | None = None) -> None:
        """Make a result an output of the graph, under this name."""
        self.add("Identity", result, name=name)
        info = self._onnx.helper.make_tensor_value_info(name, kind or self._float, list(shape))
        self._outputs.append(info)

    def build(self, name: str, metadata: dict[str, str], version: str) -> Any:
        """The model, checked by onnx itself."""
        helper = self._onnx.helper
        graph = helper.make_graph(self._nodes, name, self._inputs, self._outputs, self._constants)
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="eigensieve",
            producer_version=version,
        )
        helper.set_model_props(model, metadata)
        self._onnx.checker.check_model(model, full_check=True)
        return model

    # -- plans ------------------------------------------------------------------------

    def add_plan(self, plan: OnnxPlan, table: str, suffix: str, *, selected_only: bool) -> None:
        """Everything from the table [N, p], or its used columns, to the outputs."""
        k = plan.columns.size
        columns = self.table(table, k if selected_only else plan.n_features)
        if not selected_only and not np.array_equal(plan.columns, np.arange(plan.n_features)):
            index = self.constant(plan.columns.astype(np.int64), "columns")
            columns = self.add("Gather", columns, index, axis=1)
        for step in plan.steps:
            columns = self._apply(step.kind, step.values, columns)
        if plan.scalings is None:
            self.give(columns, f"selected{suffix}", ["N", k])
            return
        projection = self.add("MatMul", columns, self.numbers(plan.scalings, "scalings"))
        if plan.shift is not None:
            projection = self.add("Sub", projection, self.numbers(plan.shift, "shift"))
        if plan.classes is not None and plan.rule is not None:
            self._classify(plan.rule, plan.classes, columns, projection)
        self.give(projection, f"projection{suffix}", ["N", plan.scalings.shape[1]])

    def _apply(self, kind: str, values: np.ndarray, columns: str) -> str:
        constant = self.numbers(values, kind)
        if kind == "fill":
            return self.add("Where", self.add("IsNaN", columns), constant, columns)
        if kind == "log2":
            raised = self.add("Where", self.add("Less", columns, constant), constant, columns)
            return self.add("Div", self.add("Log", raised), self.numbers(np.log([2.0]), "ln2"))
        return self.add(STEP_OPERATORS[kind], columns, constant)

    def _classify(
        self, rule: LinearScores | NearestRows, classes: np.ndarray, columns: str, projection: str
    ) -> None:
        """The outputs "label" and "probabilities"."""
        if isinstance(rule, NearestRows):
            scores = self._nearness(rule, projection)
        else:
            rows = projection if rule.of_projection else columns
            product = self.add("MatMul", rows, self.numbers(rule.weights.T, "weights"))
            scores = self.add("Add", product, self.numbers(rule.offsets, "offsets"))
        winner = self.add("ArgMax", scores, axis=1, keepdims=0)
        labels = label_array(classes)
        label = self.add("Gather", self.constant(labels, "classes"), winner)
        if isinstance(rule, NearestRows):
            chances = self._certain(winner, classes.size)
        else:
            if rule.temperature != 1:
                unit = self.numbers(np.array([rule.temperature]), "temperature")
                scores = self.add("Div", scores, unit)
            chances = self.add("Softmax", scores, axis=1)
        kind = self._onnx.helper.np_dtype_to_tensor_dtype(labels.dtype)
        self.give(label, "label", ["N"], kind)
        self.give(chances, "probabilities", ["N", classes.size])

    def _nearness(self, rule: NearestRows, projection: str) -> str:
        """Minus the squared distance to the nearest training row of each class, (N, K)."""
        best = []
        for samples in rule.samples:
            terms = []
            for j, coordinates in enumerate(samples.T):
                place = self.constant(np.array([j], dtype=np.int64), "direction")
                own = self.add("Gather", projection, place, axis=1)
                apart = self.add("Sub", own, self.numbers(coordinates, "samples"))
                terms.append(self.add("Mul", apart, apart))
            squares = terms[0] if len(terms) == 1 else self.add("Sum", *terms)
            best.append(self.add("ReduceMin", squares, axes=[1], keepdims=1))
        return self.add("Neg", self.add("Concat", *best, axis=1))

    def _certain(self, winner: str, n_classes: int) -> str:
        """1 for the winner, 0 for the others."""
        return self.add("Gather", self.numbers(np.eye(n_classes), "certainty"), winner)


def label_array(classes: np.ndarray) -> np.ndarray:
    """Labels of a type that ONNX has: whole numbers, truth values, numbers or text."""
    if classes.dtype.kind in "iu":
        return classes.astype(np.int64)
    if classes.dtype.kind in "bf":
        return classes.astype(bool if classes.dtype.kind == "b" else np.float64)
    labels = classes.tolist()
    if all(isinstance(label, str) for label in labels):
        return np.array(labels, dtype=object)
    if all(isinstance(label, int | np.integer) and not isinstance(label, bool) for label in labels):
        return np.array(labels, dtype=np.int64)
    raise InputError(
        f"the labels are {labels!r:.80}; ONNX has whole numbers and text: fit with labels of one "
        "of these types"
    )

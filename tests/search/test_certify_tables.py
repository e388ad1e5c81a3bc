"""`certify` of a table and names, of an AnnData, and of what is neither."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from tests.annotated.cells import anndata, backed, make_cells, separation
from tests.big_tables import KINDS, WITH_NAMES, as_kind, make_classes, names_of
from tests.interop.frames import FRAMES, LABELS, NAMES, X, Y
from tests.oracles import naive

GIVEN = ["gene 6", "gene 0"]


def oracle(
    values: np.ndarray, labels: np.ndarray, S: list[int], shrinkage: float
) -> tuple[float, float, list[int]]:
    """Of a set and of the best one, by enumeration: their scores, and the best set."""
    _, _, A, B = separation(values, labels, shrinkage)
    best, support = naive.best(A, B, len(S), "logdet")
    return naive.score(A, B, S, "logdet"), best, support


def check_claim(claim: Any, values: np.ndarray, labels: np.ndarray, S: list[int]) -> None:
    own, best, support = oracle(values, labels, S, 0.5)
    assert claim.support.tolist() == sorted(S)
    assert claim.objective == pytest.approx(own)
    assert claim.bound == pytest.approx(best, rel=1e-5)
    assert claim.better.support.tolist() == support


@pytest.mark.parametrize("kind", FRAMES)
def test_frames(kind: str) -> None:
    claim = es.certify(FRAMES[kind](X), Y, GIVEN, shrinkage=0.5)
    check_claim(claim, X, Y, [0, 6])
    assert claim.names == tuple(NAMES)
    assert all(f"gene {j}" in claim.explain() for j in claim.better.support)
    for swap, line in zip(claim.swaps, claim.describe_swaps(), strict=True):
        assert line.startswith(f"replace 'gene {swap.leaving}' by 'gene {swap.entering}' (")


@pytest.mark.parametrize("kind", LABELS)
def test_labels(kind: str) -> None:
    check_claim(es.certify(X, LABELS[kind](Y), [6, 0], shrinkage=0.5), X, Y, [0, 6])


@pytest.mark.parametrize("shape", [(75, 27), (24, 66)])
@pytest.mark.parametrize("kind", KINDS)
def test_tables_of_every_kind(kind: str, shape: tuple[int, int], tmp_path: Path) -> None:
    values, labels = make_classes(shape, 3)
    names = names_of(values)
    table = as_kind(values, kind, tmp_path)
    features = ["gene 9", "gene 2"] if kind in WITH_NAMES else [9, 2]
    known = None if kind in WITH_NAMES else names
    for wanted, extra in ((features, {}), (["gene 9", "gene 2"], {"names": known})):
        claim = es.certify(table, labels, wanted, shrinkage=0.5, exclude=[20, 25], **extra)
        keep = [j for j in range(shape[1]) if j not in (20, 25)]
        _, _, A, B = separation(values[:, keep], labels, 0.5)
        best, place = naive.best(A, B, 2, "logdet")
        assert claim.support.tolist() == [2, 9]
        assert claim.bound == pytest.approx(best, rel=1e-5)
        assert claim.better.support.tolist() == [keep[j] for j in place]
        assert claim.names == (tuple(names) if kind in WITH_NAMES or extra else None)


def test_settings_reach_the_pencil() -> None:
    frame = FRAMES["pandas"](X)
    settings = {"shrinkage": 0.2, "ridge": 0.3, "class_weight": {"a": 3.0}}
    claim = es.certify(frame, Y, GIVEN, **settings)
    pencil = es.lda_pencil(X, Y, **settings)
    assert claim.objective == pytest.approx(naive.score(pencil.A, pencil.B, [0, 6], "logdet"))
    assert claim.names == tuple(NAMES)  # a weighted pencil has no recipe to know them
    plain = es.lda_pencil(X, Y)
    for criterion in ("lambda_max", "trace"):
        claim = es.certify(frame, Y, GIVEN, criterion=criterion)
        assert claim.objective == pytest.approx(naive.score(plain.A, plain.B, [0, 6], criterion))
    stats = es.ClassStats.from_data(X, Y)
    assert es.certify(stats, None, [0, 6], shrinkage=0.2).objective == pytest.approx(
        oracle(X, Y, [0, 6], 0.2)[0]
    )


def test_a_criterion_stays_in_third_place() -> None:
    pencil = es.lda_pencil(X, Y)
    claim = es.certify(pencil, [0, 6], "trace", 5.0)
    assert claim.criterion == "trace"
    by_name = es.certify(FRAMES["pandas"](X), Y, features=GIVEN, criterion="trace")
    assert by_name.objective == pytest.approx(claim.objective)
    with pytest.raises(OptionError, match="given twice: 'trace' and 'logdet'"):
        es.certify(pencil, [0, 6], "trace", criterion="logdet")


def test_include_and_exclude_by_name() -> None:
    frame = FRAMES["pandas"](X)
    claim = es.certify(frame, Y, GIVEN, include=["gene 6"], exclude=["gene 2", 4], shrinkage=0.5)
    _, _, A, B = separation(X, Y, 0.5)
    rivals = [[j, 6] for j in (0, 1, 3, 5, 7)]
    best = max(rivals, key=lambda S: naive.score(A, B, S, "logdet"))
    assert claim.bound == pytest.approx(naive.score(A, B, best, "logdet"), rel=1e-5)
    assert "allowed set" in claim.explain()
    with pytest.raises(InputError, match="feature 'gene 3' is in include, but not in the support"):
        es.certify(frame, Y, GIVEN, include=["gene 3"])
    with pytest.raises(InputError, match="feature 'gene 0' of the support is in exclude"):
        es.certify(frame, Y, GIVEN, exclude=["gene 0"])
    with pytest.raises(
        InputError, match=r"exclude: 1 of 1 names not found: 'Gene 3' .close: 'gene"
    ):
        es.certify(frame, Y, GIVEN, exclude=["Gene 3"])


def test_a_pencil_knows_the_names_of_its_table() -> None:
    pencil = es.lda_pencil(FRAMES["polars"](X), Y, shrinkage=0.5)
    claim = es.certify(pencil, GIVEN, exclude=["gene 7"])
    assert claim.support.tolist() == [0, 6]
    assert claim.names == tuple(NAMES)
    assert "replace 'gene " in claim.describe_swaps()[0]


def test_the_proof_of_a_table_has_its_names(tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    es.certify(FRAMES["pandas"](X), Y, GIVEN, proof=file)
    verdict = es.check_proof(file, FRAMES["pandas"](X), Y)
    assert verdict.accepted
    assert all(name in file.read_text(encoding="utf-8") for name in NAMES)


# ---------------------------------------------------------------- AnnData


@pytest.mark.parametrize("where", ["memory", "file"])
@pytest.mark.parametrize("layer", [None, "logs"])
def test_cells(where: str, layer: str | None, tmp_path: Path) -> None:
    adata = make_cells(p=9)
    adata.layers["logs"] = np.log1p(adata.X)
    adata.obs.loc[["cell0", "cell30"], "type"] = np.nan
    values = np.asarray(adata.X if layer is None else adata.layers[layer], dtype=float)
    known = adata.obs["type"].notna().to_numpy()
    labels = adata.obs["type"].to_numpy()[known].astype(str)
    if where == "file":
        adata = backed(adata, tmp_path)
    genes = ["gene7", "gene0"]
    claim = es.certify(adata, "type", genes, layer=layer, shrinkage=0.5)
    check_claim(claim, values[known], labels, [0, 7])
    assert not adata.uns  # nothing is written
    tool = es.tl.certify(adata, "type", genes, layer=layer, shrinkage=0.5)
    assert (tool.objective, tool.bound, tool.swaps) == (claim.objective, claim.bound, claim.swaps)
    assert tool.names == claim.names == tuple(adata.var_names)
    assert tool.explain() == claim.explain()


def test_the_tool_takes_what_certify_takes() -> None:
    adata = make_cells(p=9)
    options = {"class_weight": {"B": 2.0}, "ridge": 0.1, "include": ["gene7"], "exclude": ["gene1"]}
    claim = es.certify(adata, "type", ["gene7", "gene0"], **options)
    tool = es.tl.certify(adata, "type", ["gene7", "gene0"], **options)
    assert (tool.objective, tool.bound, tool.swaps) == (claim.objective, claim.bound, claim.swaps)
    masked = es.tl.certify(adata, "type", ["gene7", "gene8"], mask_var=np.arange(9) > 5)
    assert masked.names == ("gene6", "gene7", "gene8")


def test_the_tool_writes_the_swaps() -> None:
    adata = make_cells(p=9)
    claim = es.tl.certify(adata, "type", ["gene7", "gene8"], shrinkage=0.5)
    kept = adata.uns["certificate"]["swaps"]
    stay = {claim.names[j] for j in claim.better.support}
    assert set(kept["leaving"]) == {"gene7", "gene8"} - stay
    assert set(kept["entering"]) <= set(adata.uns["certificate"]["better_names"])
    assert kept["objective"][-1] == claim.better.objective
    assert kept["lines"].tolist() == claim.describe_swaps()
    best = adata.uns["certificate"]["better_names"].tolist()
    es.tl.certify(adata, "type", best, shrinkage=0.5)
    assert "swaps" not in adata.uns["certificate"]


def test_labels_of_all_cells() -> None:
    adata = make_cells(p=9)
    by_name = es.certify(adata, "type", ["gene7", "gene0"])
    labels = adata.obs["type"].to_numpy()
    assert es.certify(adata, labels, ["gene7", "gene0"]).objective == by_name.objective


@pytest.mark.parametrize(
    ("args", "options", "said"),
    [
        (("typ", ["gene0"]), {}, "y is 'typ', but .obs has no such column; close: 'type'"),
        (("type", ["Gene0"]), {}, "1 of 1 names not found: 'Gene0' .close: 'gene0'"),
        (("type", ["gene0"]), {"layer": "log"}, "no layer is called 'log'; close: 'logs'"),
        (("type", "gene0"), {}, "features must be a list of names or indices, not 'gene0'"),
        (("type",), {}, "also name the features of the set"),
    ],
)
def test_cells_refused(args: tuple[Any, ...], options: dict[str, Any], said: str) -> None:
    adata = make_cells(p=9)
    adata.layers["logs"] = adata.X
    with pytest.raises(InputError, match=said):
        es.certify(adata, *args, **options)


def test_repeated_genes_are_refused() -> None:
    values = np.random.default_rng(0).normal(size=(20, 3))
    cells = pd.DataFrame({"type": ["a", "b"] * 10}, index=map(str, range(20)))
    with pytest.warns(UserWarning, match="not unique"):
        adata = anndata.AnnData(values, obs=cells, var=pd.DataFrame(index=["g", "h", "g"]))
    with pytest.raises(InputError, match=r"occur more than once in \.var_names"):
        es.certify(adata, "type", ["h"])


def test_anndata_is_not_imported() -> None:
    code = (
        "import sys, numpy as np, eigensieve as es\n"
        "X = np.random.default_rng(0).normal(size=(20, 4))\n"
        "es.certify(X, np.arange(20) % 2, [0, 1])\n"
        "assert not {'anndata', 'pandas', 'sklearn'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# ---------------------------------------------------------------- wrong use

PENCIL = es.Pencil(np.diag([3.0, 2.0, 1.0]))
FRAME = pd.DataFrame(X, columns=NAMES)
NUMBERED = pd.DataFrame(X, columns=range(1, 9))
TWICE = pd.DataFrame(X, columns=["a", "b", "a", *"defgh"])
WRONG: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "shrinkage": ((PENCIL, [0]), {"shrinkage": 0.5}, "shrinkage: for a table only"),
    "auto": ((PENCIL, [0]), {"shrinkage": "auto"}, "shrinkage: for a table only"),
    "several": ((PENCIL, [0]), {"ridge": 0.5, "class_weight": "balanced"}, "ridge, class_weight: "),
    "layer": ((PENCIL, [0]), {"layer": "x"}, "layer: for a table only"),
    "features": ((PENCIL, [0], [1]), {}, "features belong to a table"),
    "no features": ((FRAME, Y), {}, r"also name the features of the set: certify\(X, y, features"),
    "settings": ((FRAME, Y), {"ridge": 1.0}, "also name the features of the set"),
    "no list": ((FRAME, Y, "logdet"), {}, "features must be a list of names or indices"),
    "text": ((FRAME, Y), {"features": "gene 1"}, "must be a list of names or indices"),
    "unknown": ((FRAME, Y, ["gene 1", "gen 2"]), {}, "1 of 2 names not found: 'gen 2' .close: 'ge"),
    "no names": ((X, Y, ["gene 1"]), {}, "'gene 1' is a name, and the features have no names"),
    "few names": ((X, Y, [1]), {"names": ["a"]}, "names has 1 entries, and there are 8 features"),
    "repeated": ((FRAME, Y, ["gene 1", 1]), {}, "features: 'gene 1' is there more than once"),
    "outside": ((FRAME, Y, [8]), {}, r"features names feature 8, outside 0\.\.7"),
    "mask": ((FRAME, Y, [True] * 8), {}, "features must list feature indices, not a mask"),
    "empty": ((FRAME, Y, []), {}, "features is empty: name at least one"),
    "ambiguous": ((TWICE, Y, ["a"]), {}, "2 features are called 'a'; give indices"),
    "numbers": ((NUMBERED, Y, [1]), {}, "columns of X are called by numbers .* as text: '1'"),
    "no number": ((NUMBERED, Y, ["1"]), {"exclude": [2]}, "exclude has numbers, and columns"),
    "layer of a frame": ((FRAME, Y, ["gene 1"]), {"layer": "x"}, "no other table has layers"),
    "y by name": ((FRAME, "kind", ["gene 1"]), {}, "y is 'kind'; give the labels themselves"),
    "weight": ((FRAME, Y, ["gene 1"]), {"shrinkage": 2.0}, "shrinkage"),
    "criterion": ((FRAME, Y, ["gene 1"], "trace"), {}, "time_limit is 'trace'"),
}


@pytest.mark.parametrize(("args", "options", "said"), WRONG.values(), ids=WRONG.keys())
def test_wrong_use(args: tuple[Any, ...], options: dict[str, Any], said: str) -> None:
    with pytest.raises((InputError, OptionError), match=said):
        es.certify(*args, **options)


def test_columns_called_by_numbers() -> None:
    by_text = es.certify(NUMBERED, Y, ["1", "7"], shrinkage=0.5)
    check_claim(by_text, X, Y, [0, 6])
    assert es.certify(pd.DataFrame(X), Y, [0, 6]).support.tolist() == [0, 6]
    assert es.certify(TWICE, Y, [0, 1]).support.tolist() == [0, 1]


def test_wine_by_enumeration() -> None:
    frame, y = load_wine(return_X_y=True, as_frame=True)
    claim = es.certify(frame, y, ["alcohol", "ash"], shrinkage=0.3)
    _, best, support = oracle(frame.to_numpy(), y.to_numpy(), [0, 2], 0.3)
    assert claim.swaps[-1].objective == pytest.approx(best)
    leaving, entering = (
        {getattr(s, side) for s in claim.swaps} for side in ("leaving", "entering")
    )
    assert {0, 2} - leaving | entering == set(support)

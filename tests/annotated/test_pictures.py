"""es.pl draws what es.tl has written."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

import eigensieve as es
from eigensieve.errors import InputError
from tests.annotated.cells import make_cells


@pytest.fixture(scope="module")
def adata() -> Any:
    adata = make_cells(p=15)
    adata.obs.loc["cell0", "type"] = np.nan
    es.tl.sparse_lda(adata, "type", 4)
    es.tl.gloss(adata, "type", 4)
    es.tl.sparse_pca(adata, 2, n_features_to_select=3)
    es.tl.sparse_lda_path(adata, "type", ks=(1, 2, 5))
    es.tl.qalpha(adata, 4, n_clusters=2, n_permutations=2, mask_var=np.arange(15) < 12)
    return adata


def test_cells_on_directions(adata) -> None:
    display = es.pl.sparse_lda(adata)
    assert display.classes.tolist() == ["B", "NK", "T", "no group"]
    drawn = display.points_[1].get_offsets()
    expected = adata.obsm["X_sparse_lda"][(adata.obs["type"] == "NK").to_numpy()]
    np.testing.assert_allclose(drawn, expected)
    assert es.pl.gloss(adata, "sparse_lda").classes.tolist() == ["B", "NK", "T"]
    np.testing.assert_array_equal(
        es.pl.sparse_pca(adata, "type").scores, adata.obsm["X_sparse_pca"]
    )
    with pytest.raises(InputError, match="no such column; close: 'type'"):
        es.pl.sparse_lda(adata, "typ")


def test_the_colours_of_scanpy(adata) -> None:
    colored = adata.copy()
    colored.uns["type_colors"] = ["#111111", "#222222", "#333333", "#444444"]  # unused, too
    display = es.pl.sparse_lda(colored)
    found = [tuple(points.get_facecolor()[0][:3]) for points in display.points_[:3]]
    assert found == [to_rgba(c)[:3] for c in ("#444444", "#111111", "#222222")]
    colored.uns["type_colors"] = ["red"]  # out of date
    assert es.pl.sparse_lda(colored).colors == {}


def test_loadings_are_those_of_varm(adata) -> None:
    display = es.pl.loadings(adata)
    names = adata.uns["sparse_lda"]["names"].tolist()
    assert display.names == names
    rows = [adata.var_names.get_loc(name) for name in names]
    np.testing.assert_array_equal(display.loadings, adata.varm["sparse_lda"][rows])
    assert len(es.pl.loadings(adata, "sparse_pca").axes_) == 2
    with pytest.raises(InputError, match="no loadings"):
        es.pl.loadings(adata, "qalpha")
    with pytest.raises(InputError, match="none of the selected genes"):
        es.pl.loadings(adata[:, ~adata.var["sparse_lda"].to_numpy()])


def test_dots_are_means_and_shares(adata) -> None:
    display = es.pl.dotplot(adata)
    assert display.groups == ["NK", "T", "B"]
    assert display.names == adata.uns["sparse_lda"]["names"].tolist()
    for i, group in enumerate(display.groups):
        for j, name in enumerate(display.names):
            values = adata[adata.obs["type"] == group, name].X.ravel().astype(float)
            assert display.means[i, j] == pytest.approx(values.mean())
            assert display.shares[i, j] == pytest.approx((values > 0).mean())
    own = es.pl.dotplot(adata, ["gene9", "gene1"], "sparse_lda")
    assert own.names == ["gene9", "gene1"]
    assert own.dots_.get_array().tolist() == pytest.approx(own.means.ravel().tolist())
    for call, said in (
        (lambda: es.pl.dotplot(adata, ["gene1"]), "groupby="),
        (lambda: es.pl.dotplot(adata, []), "no gene to draw"),
        (lambda: es.pl.dotplot(adata, ["GENE1"], "type"), "close: 'gene1"),
        (lambda: es.pl.dotplot(adata, "sparse_lda_path"), "every k"),
        (lambda: es.pl.dotplot(adata, "nothing"), "is no result of eigensieve"),
    ):
        with pytest.raises(InputError, match=said):
            call()


def test_dots_of_raw_and_layers(adata) -> None:
    other = adata.copy()
    other.raw = other.copy()
    other.layers["twice"] = 2 * other.X
    plain = es.pl.dotplot(adata).means
    np.testing.assert_allclose(es.pl.dotplot(other, layer="twice").means, 2 * plain)
    other.X = 0 * other.X
    np.testing.assert_allclose(es.pl.dotplot(other, use_raw=True).means, plain)


def test_weights_with_their_band(adata) -> None:
    display = es.pl.qalpha(adata)
    alpha = adata.var["qalpha_alpha"].to_numpy()[:12]
    np.testing.assert_array_equal(display.alpha, np.sort(alpha)[::-1])
    assert display.selected.sum() == 4
    np.testing.assert_array_equal(display.upper, adata.uns["qalpha"]["null"]["upper"])
    with pytest.raises(InputError, match=r"run eigensieve\.tl\.qalpha on these"):
        es.pl.qalpha(adata[:, :5])


def test_the_path_and_its_bound(adata) -> None:
    display = es.pl.path(adata)
    found = adata.uns["sparse_lda_path"]
    assert display.ks == (1, 2, 5)
    np.testing.assert_array_equal(display.objective, found["objective"])
    np.testing.assert_array_equal(display.bound, found["bound"])
    with pytest.raises(InputError, match="is no path"):
        es.pl.path(adata, "sparse_lda")


def test_axes_of_the_user(adata) -> None:
    ax = Figure().add_subplot()
    assert es.pl.sparse_lda(adata, ax=ax).ax_ is ax
    pair = list(Figure().subplots(1, 2))
    assert es.pl.loadings(adata, ax=pair).axes_ == pair


def test_show(adata, monkeypatch) -> None:
    from matplotlib import pyplot as plt

    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(plt.gcf()))
    with mpl.rc_context({"interactive": False}):
        es.pl.sparse_lda(adata)
        es.pl.sparse_lda(adata, show=False)
        assert not shown
        assert not plt.get_fignums()
        display = es.pl.loadings(adata, show=True)
        assert shown == [display.figure_]
        assert len(display.axes_) == 2
    with mpl.rc_context({"interactive": True}):
        es.pl.path(adata)
        es.pl.path(adata, show=False)
        assert len(shown) == 2
    plt.close("all")

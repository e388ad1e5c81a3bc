"""The displays draw the numbers they were given, and leave no trace in matplotlib."""

from __future__ import annotations

import io
import itertools
import subprocess
import sys
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_iris

from eigensieve import SparseLDA, SparsePCA
from eigensieve.errors import OptionError
from eigensieve.plots import CVPathDisplay, LoadingsDisplay, ProjectionDisplay
from eigensieve.plots._style import printable, short_names, shorten
from eigensieve.plots.cv_path import spaced
from eigensieve.plots.loadings import MAX_BARS
from eigensieve.plots.projection import MAX_CLASSES_IN_LEGEND, MAX_POINTS_VECTOR

HOSTILE = [
    "$x_1$",
    "50 $",
    r"\$\alpha",
    "<script>",
    "a&b",
    "_hidden",
    "bad\x00\x1b name",
    "y" * 300,
]


def svg(figure: Figure) -> str:
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg")
    return buffer.getvalue().decode()


@pytest.fixture(scope="module")
def iris() -> tuple[np.ndarray, np.ndarray, SparseLDA]:
    X, y = load_iris(return_X_y=True)
    return X, y, SparseLDA(3).fit(X, y)


@pytest.fixture
def cv() -> SimpleNamespace:
    """What a display reads of a study: k = 2 is within one SE of the smallest error."""
    table = pd.DataFrame(
        {
            "k": [1, 2, 5, 20],
            "error": [0.31, 0.115, 0.11, 0.112],
            "se": [0.03, 0.02, 0.01, 0.015],
            "balanced_error": [0.29, 0.15, 0.12, 0.125],
        }
    )
    return SimpleNamespace(ks=(1, 2, 5, 20), table=table, best_k=2, score="error", chose_k=True)


# -- error against k -----------------------------------------------------------------


@pytest.mark.parametrize("score", ["error", "balanced_error"])
def test_error_bars_are_those_of_the_score_that_chooses(cv: SimpleNamespace, score: str) -> None:
    cv.score = score
    display = CVPathDisplay.from_study(cv).plot()
    line, caps, (bars,) = display.errorbar_.lines
    main, se = cv.table[score].to_numpy(), cv.table["se"].to_numpy()
    np.testing.assert_array_equal(line.get_xdata(), cv.ks)
    np.testing.assert_allclose(line.get_ydata(), main)
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends[:, 0], main - se)
    np.testing.assert_allclose(ends[:, 1], main + se)
    assert len(caps) == 2
    legend = display.ax_.get_legend()
    words = {"error": "error", "balanced_error": "balanced error"}
    assert legend.get_texts()[0].get_text() == f"{words.pop(score)} ± SE"
    # the other one is the thin line, without bars
    (thin,) = (each for each in display.ax_.lines if each.get_marker() == "s")
    ((other, label),) = words.items()
    np.testing.assert_allclose(thin.get_ydata(), cv.table[other])
    assert legend.get_texts()[1].get_text() == label
    assert display.ax_.get_ylim()[1] > max(ends.max(), cv.table[other].max())


@pytest.mark.parametrize(("score", "limit"), [("error", 0.11), ("balanced_error", 0.12)])
def test_chosen_k_is_marked_and_the_threshold_is_that_of_the_rule(
    cv: SimpleNamespace, score: str, limit: float
) -> None:
    cv.score = score
    display = CVPathDisplay.from_study(cv).plot()
    assert display.chosen_line_.get_xdata()[0] == 2
    assert display.chosen_label_.get_text() == "chosen: k = 2"
    assert display.threshold_ == pytest.approx(limit + 0.01)
    (ring,) = (each for each in display.ax_.lines if each.get_markersize() == 9)
    np.testing.assert_allclose(ring.get_xydata(), [[2, cv.table[score][1]]])


def test_a_k_that_was_not_chosen_is_not_called_so(cv: SimpleNamespace) -> None:
    legend = CVPathDisplay.from_study(cv).plot().ax_.get_legend()
    assert "1-SE threshold" in [text.get_text() for text in legend.get_texts()]
    cv.chose_k = False
    display = CVPathDisplay.from_study(cv).plot()
    assert display.chosen_label_.get_text() == "k = 2"
    assert "1-SE threshold" not in svg(display.figure_)
    level = [display.threshold_] * 2
    assert level not in [list(line.get_ydata()) for line in display.ax_.lines]


def test_unknown_scores_are_refused() -> None:
    with pytest.raises(OptionError, match="'auc' is not known; give one of"):
        CVPathDisplay([1], [0.1], [0.0], [0.1], score="auc")
    with pytest.raises(OptionError, match="needs the balanced errors"):
        CVPathDisplay([1], [0.1], [0.0], score="balanced_error")


def test_ticks_are_the_true_k(cv: SimpleNamespace) -> None:
    ax = CVPathDisplay.from_study(cv).plot().ax_
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "2", "5", "20"]
    assert ax.get_xscale() == "log"


def test_crowded_labels_are_thinned_but_the_chosen_one_stays() -> None:
    kept = spaced(range(1, 51), chosen=43)
    assert {1, 43} <= kept
    assert len(kept) < 20
    assert spaced([7]) == {7}


@pytest.mark.parametrize("error", [0.0, 0.25])
def test_a_single_k(error: float) -> None:
    display = CVPathDisplay([3], [error], [0.0], chosen_k=3).plot()
    assert "chosen: k = 3" in svg(display.figure_)


def test_errors_of_a_single_test_part_have_no_standard_error() -> None:
    display = CVPathDisplay([1, 3], [0.2, 0.1], [np.nan] * 2, chosen_k=3).plot()
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["error"]
    assert 0.1 < display.ax_.get_ylim()[1] < 0.3


# -- samples -------------------------------------------------------------------------


def test_scatter_shows_every_sample_with_a_colour_and_a_shape_per_class(iris) -> None:
    X, y, model = iris
    display = ProjectionDisplay.from_estimator(model, X, y).plot()
    scores = model.transform(X)
    for points, label in zip(display.points_, np.unique(y)):
        np.testing.assert_allclose(points.get_offsets(), scores[y == label][:, :2])
    colours = {tuple(points.get_facecolor()[0]) for points in display.points_}
    shapes = {len(points.get_paths()[0].vertices) for points in display.points_}
    assert len(colours) == len(shapes) == 3


def test_scores_of_a_study() -> None:
    scores = np.arange(8.0).reshape(4, 2)
    study = SimpleNamespace(scores=scores, labels=np.array(["b", "a", "b", "a"]))
    display = ProjectionDisplay.from_study(study).plot()
    np.testing.assert_array_equal(display.points_[0].get_offsets(), scores[1::2])
    np.testing.assert_array_equal(display.points_[1].get_offsets(), scores[::2])


def test_strip_shows_every_score_and_repeats_itself(iris) -> None:
    X, y, _ = iris
    model = SparseLDA(1).fit(X, y)
    first, second = (ProjectionDisplay.from_estimator(model, X, y).plot() for _ in range(2))
    for i, points in enumerate(first.points_):
        np.testing.assert_allclose(points.get_offsets()[:, 0], model.transform(X)[y == i, 0])
        np.testing.assert_array_equal(points.get_offsets(), second.points_[i].get_offsets())
        height = points.get_offsets()[:, 1]
        assert np.all((height > i) & (height < i + 0.5))
    assert [t.get_text() for t in first.ax_.get_yticklabels()] == ["0", "1", "2"]


def test_strip_of_classes_too_small_or_too_flat_for_a_density() -> None:
    display = ProjectionDisplay([1.0] * 8 + [2.0], ["a"] * 8 + ["b"]).plot()
    assert len(display.points_) == 2
    svg(display.figure_)


@pytest.mark.parametrize("n", [MAX_POINTS_VECTOR, MAX_POINTS_VECTOR + 1])
def test_many_points_become_a_picture(n: int) -> None:
    scores = np.random.default_rng(0).normal(size=(n, 2))
    display = ProjectionDisplay(scores, np.arange(n) % 2).plot()
    assert all(points.get_rasterized() == (n > MAX_POINTS_VECTOR) for points in display.points_)


def test_hostile_class_names_are_shown_literally() -> None:
    labels = np.repeat(HOSTILE, 6)
    scores = np.random.default_rng(0).normal(size=(len(labels), 2))
    for columns in (1, 2):
        page = svg(ProjectionDisplay(scores[:, :columns], labels).plot().figure_)
        for shown in ("$x_1$", "50 $", "&lt;script&gt;", "_hidden"):
            assert shown in page


def many_classes(n: int, name: str = "population {} of the highlands") -> ProjectionDisplay:
    labels = np.array([name.replace("{}", str(i)) for i in range(n)])
    scores = np.random.default_rng(0).normal(size=(4 * n, 2))
    return ProjectionDisplay(scores, np.repeat(labels, 4)).plot()


def test_legend_of_very_many_classes_says_what_it_leaves_out() -> None:
    display = many_classes(MAX_CLASSES_IN_LEGEND + 6)
    lines = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert len(lines) == MAX_CLASSES_IN_LEGEND + 1
    assert lines[-1] == "6 more, in grey"
    unnamed = {
        tuple(points.get_facecolor()[0]) for points in display.points_[MAX_CLASSES_IN_LEGEND:]
    }
    named = {tuple(points.get_facecolor()[0]) for points in display.points_[:MAX_CLASSES_IN_LEGEND]}
    assert len(unnamed) == 1
    assert not unnamed & named


def test_thirty_classes_are_told_apart() -> None:
    points = many_classes(MAX_CLASSES_IN_LEGEND).points_
    looks = {(*p.get_facecolor()[0], p.get_paths()[0].vertices.tobytes()) for p in points}
    assert len(looks) == MAX_CLASSES_IN_LEGEND >= 30


@pytest.mark.parametrize("name", ["{}", "population {} of the highlands", "WOMBATS {} " * 30])
@pytest.mark.parametrize("n", [3, 6, 7, 10, 13, 30, 50])
def test_legend_takes_nothing_from_the_plot(n: int, name: str) -> None:
    display = many_classes(n, name)
    display.figure_.draw_without_rendering()
    inch = display.figure_.dpi
    plot, legend = (part.get_window_extent() for part in (display.ax_, display.ax_.get_legend()))
    assert plot.height > 2.7 * inch
    assert plot.width > 3.1 * inch
    paper = display.figure_.bbox
    assert 0 <= legend.x0 < legend.x1 <= paper.x1
    assert 0 <= legend.y0 < legend.y1 <= paper.y1
    assert not legend.overlaps(plot)
    assert not legend.overlaps(display.ax_.xaxis.get_label().get_window_extent())


def test_names_in_other_scripts_are_measured_without_a_warning() -> None:
    assert many_classes(8, "温度{}").ax_.get_legend() is not None


def test_rows_of_many_classes_stay_on_a_page() -> None:
    scores = np.random.default_rng(0).normal(size=300)
    assert ProjectionDisplay(scores, np.arange(300) % 10).plot().figure_.get_figheight() < 7
    assert ProjectionDisplay(scores, np.arange(300) % 50).plot().figure_.get_figheight() < 17


@pytest.mark.parametrize("size", [1.0, 1e5, 1e-7])
@pytest.mark.parametrize("columns", [1, 2])
def test_tick_labels_do_not_touch(columns: int, size: float) -> None:
    scores = size * np.random.default_rng(0).normal(size=(40, columns))
    projection = ProjectionDisplay(scores, np.arange(40) % 2).plot()
    loadings = LoadingsDisplay([f"f{i}" for i in range(5)], scores[:5]).plot()
    for axes in (projection.ax_, *loadings.axes_):
        axes.get_figure().draw_without_rendering()
        left, right = axes.get_xlim()
        ticks = zip(axes.get_xticks(), axes.get_xticklabels())
        boxes = [t.get_window_extent() for x, t in ticks if left <= x <= right]
        assert len(boxes) >= 2
        assert all(a.x1 < b.x0 for a, b in itertools.pairwise(boxes))
    unit = {1.0: "", 1e5: ", ×10⁵", 1e-7: ", ×10⁻⁷"}[size]  # noqa: RUF001
    label = projection.ax_.get_xlabel()
    assert label.endswith(unit)
    assert "10" in label or size == 1.0


def test_ticks_far_from_zero_keep_their_digits() -> None:
    scores = np.column_stack([1e6 + np.linspace(0, 1, 20), np.arange(20)])
    ax = ProjectionDisplay(scores, np.arange(20) % 2).plot().ax_
    ax.get_figure().draw_without_rendering()
    texts = [text.get_text() for text in ax.get_xticklabels()]
    assert len(set(texts)) == len(texts)


# -- loadings ------------------------------------------------------------------------


def test_bars_are_the_loadings_by_weight(iris) -> None:
    _, _, model = iris
    names = ["sl", "sw", "pl", "pw"]
    display = LoadingsDisplay.from_estimator(model, names).plot()
    weight = np.sqrt(np.square(model.scalings_) @ model.explained_variance_ratio_)
    order = np.argsort(-weight, kind="stable")[:3]
    assert display.names == [names[j] for j in order]
    assert len(display.bars_) == 2
    for direction, bars in enumerate(display.bars_):
        widths = [bar.get_width() for bar in bars]
        np.testing.assert_allclose(widths, model.scalings_[order, direction])
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == display.names
    bottom, top = display.ax_.get_ylim()
    assert top < bottom  # rank 1 on top


def test_loadings_of_a_study() -> None:
    features = [("a", (0.5, -0.1)), ("b", (0.2, 0.7))]
    selected = [SimpleNamespace(name=name, loadings=loadings) for name, loadings in features]
    study = SimpleNamespace(selected=selected, labels=np.arange(3), scores=np.eye(3)[:, :2])
    display = LoadingsDisplay.from_study(study).plot()
    widths = [[bar.get_width() for bar in bars] for bars in display.bars_]
    assert widths == [[0.5, 0.2], [-0.1, 0.7]]
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["a", "b"]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_sign_of_a_loading_is_tied_to_a_class(sign: float) -> None:
    labels = np.array(["$x_1$", "b", "$x_1$", "b"])
    scores = sign * np.array([[3.0], [-1.0], [-0.5], [0.0]])  # the means are 1.25 and -0.5
    selected = [SimpleNamespace(name="a", loadings=(0.5,))]
    study = SimpleNamespace(selected=selected, labels=labels, scores=scores)
    display = LoadingsDisplay.from_study(study).plot()
    high = "$x_1$" if sign > 0 else "b"
    assert f"Loading (positive: towards {high})" in svg(display.figure_)
    assert LoadingsDisplay(["a"], [0.5]).plot().ax_.get_xlabel() == "Loading"


def test_loadings_of_principal_components(iris) -> None:
    pca = SparsePCA(1, n_features_to_select=2).fit(iris[0])
    display = LoadingsDisplay.from_estimator(pca).plot()
    assert all(name.startswith("feature ") for name in display.names)
    widths = sorted(bar.get_width() for bar in display.bars_[0])
    np.testing.assert_allclose(widths, sorted(pca.components_[0][pca.support_]))


def test_bars_too_short_to_see_have_their_number() -> None:
    display = LoadingsDisplay(["huge", "tiny", "none"], [[1e5], [-2.5e-6], [0.0]]).plot()
    assert [text.get_text() for text in display.ax_.texts] == ["−2.5e−06", "0"]  # noqa: RUF001
    assert LoadingsDisplay(["a", "b"], [1.0, 0.1]).plot().ax_.texts[:] == []


def test_more_features_than_bars_are_counted() -> None:
    names = [f"f{i}" for i in range(MAX_BARS + 10)]
    display = LoadingsDisplay(names, np.linspace(1, 0, len(names))).plot()
    assert len(display.bars_[0]) == MAX_BARS
    assert display.n_left_out == 10
    assert "10 more features" in display.ax_.get_title(loc="left")


def test_hostile_feature_names_are_shown_literally() -> None:
    page = svg(LoadingsDisplay(HOSTILE, np.ones(len(HOSTILE))).plot().figure_)
    for shown in ("$x_1$", "50 $", r"\$\alpha", "&lt;script&gt;", "a&amp;b", "bad�� name", "y…y"):
        assert shown in page
    assert "y" * 40 not in page


# -- manners -------------------------------------------------------------------------


def test_names_are_shortened_in_the_middle() -> None:
    assert shorten("short") == "short"
    assert len(shorten("z" * 300)) == 28
    assert shorten("gene_of_a_very_long_family_0042", 12) == "gene_of…0042"
    assert printable("a\tb\u202ec\ud800") == "a b\ufffdc\ufffd"


def test_names_of_classes_lose_their_end_unless_that_makes_them_alike() -> None:
    names = ["lipoma", "malignant fibrous histiocytoma", "malignant tumor type 1"]
    assert short_names(names, 20) == ["lipoma", "malignant fibrous h…", "malignant tumor typ…"]
    alike = [*names, "malignant tumor type 2"]
    assert short_names(alike, 20)[2:] == ["malignant tum…type 1", "malignant tum…type 2"]
    assert short_names(["a b c d"], 5) == ["a b…"]


def test_a_display_draws_on_the_axes_it_is_given(cv: SimpleNamespace, iris) -> None:
    X, y, model = iris
    figure = Figure()
    one, two, *three = figure.subplots(1, 4)
    assert CVPathDisplay.from_study(cv).plot(one).ax_ is one
    assert ProjectionDisplay.from_estimator(model, X, y).plot(two).ax_ is two
    assert LoadingsDisplay.from_estimator(model).plot(three).axes_ == three
    assert LoadingsDisplay.from_estimator(model).plot(three[0]).figure_ is figure


def test_global_settings_stay_as_they_were(cv: SimpleNamespace) -> None:
    before = dict(matplotlib.rcParams)
    CVPathDisplay.from_study(cv).plot()
    assert dict(matplotlib.rcParams) == before


def test_no_pyplot_and_the_package_is_lazy() -> None:
    code = (
        "import sys, eigensieve.plots as plots\n"
        "assert 'matplotlib' not in sys.modules and 'numpy' not in sys.modules\n"
        "plots.CVPathDisplay([1, 2], [.2, .1], [.01, .01], chosen_k=2).plot()\n"
        "plots.LoadingsDisplay(['a'], [1.0]).plot()\n"
        "plots.ProjectionDisplay([1.0, 2.0], ['a', 'b']).plot()\n"
        "plots.CorrelationCircleDisplay(['a'], [[.5, .5]]).plot()\n"
        "plots.GapDisplay([1, 2], [.1, .2], [.2, .3]).plot()\n"
        "plots.StabilityDisplay(['a'], [.5], [True], [1], [.5]).plot()\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "assert {'AlphaDisplay', 'CVPathDisplay', 'ComparisonDisplay', 'CorrelationCircleDisplay', "
        "'DotsDisplay', 'GapDisplay', 'LoadingsDisplay', 'PanelsDisplay', 'ProjectionDisplay', "
        "'ReliabilityDisplay', 'StabilityDisplay'} == set(dir(plots))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_unknown_name_raises_attribute_error() -> None:
    import eigensieve.plots

    with pytest.raises(AttributeError, match="NoDisplay"):
        _ = eigensieve.plots.NoDisplay

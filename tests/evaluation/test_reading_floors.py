"""What the readers make of text by writers who never saw the program must not drop; the corpus stays well-formed."""

from pathlib import Path

import pytest

from evals import group_reading, reading
from floors import assert_floors_hold
from kinkeeper.reading.encoder import shipped_encoder
from kinkeeper.reading.trained import TrainedReader, shipped_weights
from training import fit_reader, measure_reader
from training.corpus import CorpusReader

ROOT = Path(__file__).parents[2]


@pytest.mark.nightly
@pytest.mark.evaluation
def test_readers_reach_their_floors() -> None:
    assert_floors_hold(reading.measure(root=ROOT, is_full=False))


def test_what_a_model_reads_in_groups_reaches_its_floors_and_every_prompt_has_its_answer() -> None:
    report = group_reading.measure(root=ROOT)
    assert_floors_hold(report)
    assert report.tables[-1].title.endswith(" 0 without an answer")


@pytest.mark.evaluation
def test_the_trained_reader_tells_plans_from_talk_of_writers_it_has_not_seen() -> None:
    rows = [*fit_reader.rows_of(fit_reader.DATA)]
    figures = fit_reader.measured(rows, fit_reader.matrix_of(rows), shipped_weights())
    assert figures["plan"]["calibration error"] <= 0.05
    assert figures["plans in groups"]["average precision"] >= 0.83
    assert figures["plans in groups"]["recall at precision 0.8"] >= 0.65


@pytest.mark.nightly
@pytest.mark.evaluation
def test_with_its_encoder_it_finds_slots_and_what_is_answered() -> None:
    figures = measure_reader.figures(TrainedReader())
    assert figures["act"]["right"] >= 0.66
    assert figures["predicate"]["right"] >= 0.6
    assert figures["plans in groups"]["average precision"] >= 0.86
    assert figures["plans in groups"]["recall at precision 0.8"] >= 0.78
    assert figures["calibration error of p"] <= 0.1
    assert figures["links"]["found"] >= 0.5
    assert figures["slots"]["who_for"]["overlap"] >= 0.5
    assert figures["slots"]["when"]["overlap"] >= 0.55


def test_the_shipped_weights_were_fitted_on_this_corpus() -> None:
    text = fit_reader.version_of(fit_reader.DATA)
    encoder = shipped_encoder()
    assert shipped_weights().version == text
    assert encoder is not None
    assert encoder.version == text


def test_the_corpus_follows_its_guide() -> None:
    paths = sorted((ROOT / "training" / "data").glob("*/*.txt"))
    assert paths
    for path in paths:
        reader = CorpusReader(path)
        reader.read()
        assert reader.mistakes == []
        assert reader.talks

import json
import os

import pytest
from kedro.io import DatasetError

from mathamr_kedro.base.errors import DamagedFileError, MissingInputError
from mathamr_kedro.datasets.encoders import EncodersDataset


@pytest.fixture
def dataset(tmp_path):
    return EncodersDataset(filepath=str(tmp_path))


def test_folder_is_named_by_parameters_and_graphs(dataset, tmp_path):
    store = dataset.load()
    folder = store.folder({"seed": 1}, "graphs")
    assert folder.parent == tmp_path
    assert folder == store.folder({"seed": 1}, "graphs")
    assert folder != store.folder({"seed": 2}, "graphs")
    assert folder != store.folder({"seed": 1}, "others")


def test_file_is_written_anew(dataset, tmp_path):
    store, file = dataset.load(), tmp_path / "vectors.npy"
    for text in "12":
        written = store.write_file(file, lambda path, text=text: path.write_text(text))
        assert written == str(file)
        assert file.read_text() == text


def test_file_that_takes_long_is_written_once(dataset, tmp_path):
    store, file = dataset.load(), tmp_path / "vectors.npy"
    for text in "12":
        store.complete_file(file, lambda path, text=text: path.write_text(text))
        assert file.read_text() == "1"


def test_changed_file_is_refused(dataset, tmp_path):
    store, file = dataset.load(), tmp_path / "vectors.npy"
    store.write_file(file, lambda path: path.write_text("1"))
    file.write_text("2")
    with pytest.raises(DamagedFileError, match="run the stage 'training' again"):
        store.complete_file(file, lambda path: None)


def test_failed_writing_leaves_nothing(dataset, tmp_path):
    def fail(path):
        path.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dataset.load().write_file(tmp_path / "vectors.npy", fail)
    assert not (tmp_path / "vectors.npy").exists()


def test_preview_lists_the_trainings(dataset, tmp_path):
    assert dataset.preview()["data"] == []
    for number, name in enumerate(("old", "new")):
        (tmp_path / name / "model").mkdir(parents=True)
        os.utime(tmp_path / name, (number, number))
    epochs = [
        {"train_loss": 0.5, "validation_loss": 0.8, "seconds": 1.04},
        {"train_loss": 0.3, "validation_loss": 0.9, "seconds": 2.03},
    ]
    (tmp_path / "old/history.json").write_text(json.dumps(epochs))
    os.utime(tmp_path / "old", (0, 0))
    assert dataset.preview()["data"] == [["new", 0, None, 0], ["old", 2, 0.8, 3.1]]


def test_load_missing_file(dataset):
    with pytest.raises(MissingInputError, match="run the stage 'training'"):
        dataset.load().open("nothing")


def test_trainings_write_themselves(dataset):
    with pytest.raises(DatasetError, match="written by trainings"):
        dataset.save(object())

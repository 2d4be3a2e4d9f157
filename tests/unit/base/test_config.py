"""Options: environment before file before default, checked wherever they come from."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.every import every

from semira.base import options, settings
from semira.base.config import Config, config
from semira.base.errors import InvalidValue


@pytest.fixture(autouse=True)
def no_user_options(monkeypatch, tmp_path):
    for name in settings.OPTION_NAMES:
        monkeypatch.delenv(f"SEMIRA_{name.upper()}", raising=False)
    monkeypatch.delenv("SEMIRA_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def write_file(monkeypatch, tmp_path: Path, text: str) -> Path:
    path = tmp_path / "options.toml"
    path.write_text(text)
    monkeypatch.setenv("SEMIRA_CONFIG", str(path))
    return path


def test_defaults(tmp_path):
    assert Config()["autocompute"] is True
    assert settings.read_environment().device == "cpu"
    assert settings.read_environment().data_dir == tmp_path / "cache" / "semira" / "data"


@pytest.mark.parametrize(
    ("text", "value"), [("0", False), ("no", False), ("OFF", False), ("1", True), ("true", True)]
)
def test_environment(monkeypatch, text, value):
    monkeypatch.setenv("SEMIRA_AUTOCOMPUTE", text)
    assert Config()["autocompute"] is value


def test_file_in_the_user_folder(tmp_path):
    folder = tmp_path / "config" / "semira"
    folder.mkdir(parents=True)
    (folder / "semira.toml").write_text('autocompute = false\nthreads = 3\ndata_dir = "~/graphs"\n')
    assert Config()["autocompute"] is False
    found = settings.read_environment()
    assert (found.threads, found.data_dir) == (3, Path.home() / "graphs")


def test_environment_goes_before_the_file(monkeypatch, tmp_path):
    write_file(monkeypatch, tmp_path, "max_rows = 4\nmax_columns = 6\n")
    monkeypatch.setenv("SEMIRA_MAX_ROWS", "8")
    found = Config()
    assert (found["max_rows"], found["max_columns"]) == (8, 6)


def test_working_directory_is_not_searched(monkeypatch, tmp_path):
    (tmp_path / "semira.toml").write_text("autocompute = false\n")
    monkeypatch.chdir(tmp_path)
    assert Config()["autocompute"] is True


@every(
    ("text", "words"),
    [
        ("max_rows = 'many'", ["options.toml: max_rows='many'", "not an integer"]),
        ("max_rows = 1", ["max_rows=1", "at least 2"]),
        ("autocompute = 3", ["neither true nor false"]),
        ("maxrows = 3", ["no option 'maxrows'", "max_rows"]),
        ("max_rows = ", ["options.toml"]),
        ("threads = true", ["threads=True"]),
        ("device = 'gpu'", ["choose one of reference, cpu, cuda"]),
        ("data_dir = 3", ["not the path of a folder"]),
    ],
)
def test_mistakes_in_the_file(monkeypatch, tmp_path, text, words):
    write_file(monkeypatch, tmp_path, text)
    with pytest.raises(InvalidValue) as caught:
        _ = Config()["autocompute"], settings.read_environment()
    for word in words:
        assert word in str(caught.value)


def test_named_file_must_exist(monkeypatch, tmp_path):
    monkeypatch.setenv("SEMIRA_CONFIG", str(tmp_path / "none.toml"))
    with pytest.raises(InvalidValue, match=r"none\.toml' does not exist"):
        Config().get("autocompute")


@pytest.mark.parametrize("name", ["SEMIRA_CACHE_DIR", "SEMIRA_DATA_DIR"])
@pytest.mark.parametrize("text", ["", " "])
def test_an_empty_folder_is_not_the_working_directory(monkeypatch, name, text):
    monkeypatch.setenv(name, text)
    with pytest.raises(InvalidValue, match=f"{name}='{text}' is empty; name a folder or unset it"):
        settings.read_environment()


def test_a_relative_folder_is_resolved_once(monkeypatch, tmp_path):
    monkeypatch.setenv("SEMIRA_CACHE_DIR", "kernels")
    monkeypatch.chdir(tmp_path)
    found = settings.read_environment()
    monkeypatch.chdir("/")
    assert found.cache_dir == tmp_path / "kernels"


def test_a_folder_of_nobody_is_refused(monkeypatch):
    monkeypatch.setenv("SEMIRA_CACHE_DIR", "~no-such-user/kernels")
    with pytest.raises(InvalidValue, match="SEMIRA_CACHE_DIR='~no-such-user/kernels'"):
        settings.read_environment()


@pytest.mark.parametrize("text", ["", ".", "relative"])
def test_a_relative_folder_of_the_desktop_is_ignored(monkeypatch, text):
    monkeypatch.setenv("XDG_CACHE_HOME", text)
    assert settings.read_environment().cache_dir == Path.home() / ".cache" / "semira"


def test_a_user_without_a_home_names_a_folder(monkeypatch):
    def fail():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", fail)
    with pytest.raises(InvalidValue, match="no home folder; set XDG_CACHE_HOME"):
        settings.read_environment()


def test_folder_in_place_of_the_file(monkeypatch, tmp_path):
    monkeypatch.setenv("SEMIRA_CONFIG", str(tmp_path))
    with pytest.raises(InvalidValue, match="cannot be read"):
        Config().to_dict()


def test_mistake_in_the_environment(monkeypatch):
    monkeypatch.setenv("SEMIRA_MAX_WIDTH", "wide")
    with pytest.raises(InvalidValue, match="SEMIRA_MAX_WIDTH='wide'"):
        Config().refresh()


def test_set_is_undone_also_after_an_error():
    found = Config()

    def fail():
        with found.set({"max_rows": 4}, autocompute=0) as inside:
            assert (inside["max_rows"], inside["autocompute"]) == (4, False)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert (found["max_rows"], found["autocompute"]) == (60, True)


def test_set_for_good_and_refresh():
    found = Config()
    found.set(max_rows=6)
    assert found["max_rows"] == 6
    found.refresh()
    assert found["max_rows"] == 60


@pytest.mark.parametrize("changes", [{"nothing": 1}, {"max_rows": 4, "autocompute": "maybe"}])
def test_a_refused_change_changes_nothing(changes):
    found = Config()
    with pytest.raises(InvalidValue):
        found.set(changes)
    assert found["max_rows"] == 60


def test_is_a_mapping():
    found = Config()
    assert dict(found.to_dict()) == {key: found[key] for key in found}
    assert len(found) == len(list(found))
    assert "autocompute" in found
    assert "nothing" not in found
    assert found.get("nothing", 3) == 3
    with pytest.raises(KeyError):
        found["nothing"]
    assert repr(found).startswith("Config({")


def test_the_package_has_one():
    import semira as gb

    assert gb.config is config


def test_folder_parser_expands_home():
    assert options.folder("~/x", "here") == Path.home() / "x"


@pytest.mark.parametrize(
    ("name", "meant"),
    [("THREAD", "THREADS"), ("DEVISE", "DEVICE"), ("CACHEDIR", "CACHE_DIR"), ("CONFG", "CONFIG")],
)
def test_misspelt_variables_are_refused(monkeypatch, name, meant):
    monkeypatch.setenv(f"SEMIRA_{name}", "2")
    with pytest.raises(InvalidValue, match=f"SEMIRA_{name} is no option.*SEMIRA_{meant}"):
        settings.read_environment()


def test_variables_of_others_are_left_alone(monkeypatch):
    for name in ("SEMIRA_TEST_DATA", "SEMIRA_CONFORMANCE", "SEMIRA_RUNS"):
        monkeypatch.setenv(name, "x")
    assert settings.read_environment().threads >= 1

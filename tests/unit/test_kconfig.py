# SPDX-License-Identifier: GPL-2.0
import pytest

from saakm.base.errors import SaakmError
from saakm.builder import kconfig


@pytest.fixture
def files(tmp_path):
    base, debug = tmp_path / "base.config", tmp_path / "debug.config"
    base.write_text("# why\nCONFIG_A=y\nCONFIG_HZ=250\n# CONFIG_OFF is not set\nCONFIG_VT=n\n")
    debug.write_text("CONFIG_OFF=y\n# CONFIG_A is not set\n")
    return tmp_path


def verify(files, config, result):
    (files / ".config").write_text(result)
    kconfig.verify(kconfig.fragments(config, files), files / ".config")


def test_what_took_effect_is_accepted(files):
    verify(files, "base", "CONFIG_A=y\nCONFIG_HZ=250\n# CONFIG_OFF is not set\nCONFIG_MORE=y\n")


def test_the_later_fragment_has_the_last_word(files):
    verify(files, "debug", "CONFIG_OFF=y\nCONFIG_HZ=250\n")


@pytest.mark.parametrize(
    ("result", "named"),
    [
        ("CONFIG_HZ=250\n", "CONFIG_A=y of base.config became n"),
        ("CONFIG_A=m\nCONFIG_HZ=250\n", "CONFIG_A=y of base.config became m"),
        ("CONFIG_A=y\nCONFIG_HZ=100\n", "CONFIG_HZ=250 of base.config became 100"),
        ("CONFIG_A=y\nCONFIG_HZ=250\nCONFIG_OFF=y\n", "CONFIG_OFF=n of base.config became y"),
        ("CONFIG_A=y\nCONFIG_HZ=250\nCONFIG_VT=y\n", "CONFIG_VT=n of base.config became y"),
    ],
)
def test_what_kconfig_dropped_is_named(files, result, named):
    with pytest.raises(SaakmError) as error:
        verify(files, "base", result)
    assert named in str(error.value)


def test_the_repositorys_fragments_parse_completely():
    for config in kconfig.CONFIGS:
        for file in kconfig.fragments(config):
            lines = [line for line in file.read_text().splitlines() if "CONFIG_" in line]
            assert len(kconfig.parse_config("\n".join(lines))) == len(lines), file


def test_an_unknown_configuration_is_refused():
    with pytest.raises(SaakmError, match="no kernel configuration 'fast'"):
        kconfig.fragments("fast")

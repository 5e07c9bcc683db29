# SPDX-License-Identifier: GPL-2.0
"""One module per command of the CLI."""

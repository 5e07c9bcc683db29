# SPDX-License-Identifier: GPL-2.0
"""The conformance suite: what every policy must do, and what it promises."""

# SPDX-License-Identifier: GPL-2.0
"""How things look, whatever they are: plots, tables on a terminal, Markdown, HTML."""

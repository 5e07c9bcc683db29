# SPDX-License-Identifier: GPL-2.0
"""Wrong policies, loaded beside good ones."""

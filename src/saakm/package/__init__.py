# SPDX-License-Identifier: GPL-2.0
"""Debian packages: the kernel, policies as DKMS sources, saakmctl with its unit for systemd."""

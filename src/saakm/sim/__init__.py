# SPDX-License-Identifier: GPL-2.0
"""The simulator: the class and policies as a program of the host's, which is built and run here."""

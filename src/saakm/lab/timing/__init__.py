# SPDX-License-Identifier: GPL-2.0
"""How well times agree where they feed back: the same files of rt-app in a guest and in the simulator."""

# SPDX-License-Identifier: GPL-2.0
import sys

try:  # what is imported takes a while
    from .cli import main

    main()
except KeyboardInterrupt:
    sys.exit(130)

# SPDX-License-Identifier: GPL-2.0
from .base.ending import end_by_interrupt

try:  # what is imported takes a while
    from .base.streams import end_without_reader
    from .cli import main

    end_without_reader()
    main()
except KeyboardInterrupt:
    end_by_interrupt()

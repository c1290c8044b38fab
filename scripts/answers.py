"""Exits with 0 when the URL answers 200 within two seconds."""

import sys
import urllib.request

# A proxy of the environment must not be asked for a local server.
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
try:
    with opener.open(sys.argv[1], timeout=2) as answer:
        sys.exit(0 if answer.status == 200 else 1)
except OSError:
    sys.exit(1)

# Shared by the scripts of this folder; sourced, never run.
# shellcheck shell=bash

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { say "$*"; exit 1; }

is_root() { [ "$(id -u)" -eq 0 ]; }

# Downloads live outside the clone, so that the next clone finds them. Elasticsearch
# refuses to run as root and root's home is closed to the user it runs as.
cache_dir() {
  if [ -n "${HYBRIDGE_TEST_CACHE:-}" ]; then printf '%s\n' "$HYBRIDGE_TEST_CACHE"
  elif is_root; then printf '/var/cache/hybridge\n'
  else printf '%s/hybridge\n' "${XDG_CACHE_HOME:-$HOME/.cache}"
  fi
}

CACHE="$(cache_dir)"
umask 022
mkdir -p "$CACHE"

# Of two installers at once the second waits here, and then finds the work done.
one_at_a_time() { # NAME
  exec {lock_fd}>"$CACHE/$1.lock"
  flock "$lock_fd"
}

# need COMMAND PACKAGE...: installs the Debian packages where it may, says which else.
need() {
  local command="$1"
  shift
  command -v "$command" >/dev/null && return
  if is_root && command -v apt-get >/dev/null; then
    say "installing $* for $command"
    { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"; } >&2
  fi
  command -v "$command" >/dev/null || die "$command is missing; install it (Debian: apt-get install $*)"
}

# wait_for URL PID SECONDS LOG: until the URL answers; fails at once when the process ends.
wait_for() {
  local url="$1" pid="$2" deadline=$((SECONDS + $3)) log="$4"
  until python3 "$ROOT/scripts/answers.py" "$url"; do
    kill -0 "$pid" 2>/dev/null || { tail -n 40 "$log" >&2; die "the process behind $url ended, its last lines are above"; }
    [ "$SECONDS" -lt "$deadline" ] || { tail -n 40 "$log" >&2; die "$url did not answer within $3 s"; }
    sleep 0.3
  done
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

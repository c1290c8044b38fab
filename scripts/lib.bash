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

# apt_install PACKAGE...: one at a time, as apt fails beside another. Fails where it may not.
apt_install() {
  is_root && command -v apt-get >/dev/null || return
  say "installing $*"
  flock "$CACHE/apt.lock" bash -c \
    'apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"' apt "$@" >&2
}

# need COMMAND PACKAGE...: installs the Debian packages where it may, says which else.
need() {
  local command="$1"
  shift
  command -v "$command" >/dev/null && return
  apt_install "$@" || true
  command -v "$command" >/dev/null || die "$command is missing; install it (Debian: apt-get install $*)"
}

# java_home_of VERSION: prints the home of a Java that is at least that, the one of JAVA_HOME or of the PATH if it is.
java_home_of() {
  need java default-jre-headless
  local java version
  for java in ${JAVA_HOME:+"$JAVA_HOME/bin/java"} "$(command -v java)" /usr/lib/jvm/*/bin/java; do
    version="$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')"
    [ "${version:-0}" -lt "$1" ] || { dirname "$(dirname "$(readlink -f "$java")")"; return; }
  done
  die "there is no Java $1 or newer; install one and set JAVA_HOME"
}

# wait_for WHAT PID SECONDS LOG COMMAND...: until the command succeeds; fails at once when the process ends.
wait_for() {
  local what="$1" pid="$2" deadline=$((SECONDS + $3)) log="$4"
  shift 4
  until "$@" >/dev/null 2>&1; do
    kill -0 "$pid" 2>/dev/null || { tail -n 40 "$log" >&2; die "the process of $what ended, its last lines are above"; }
    [ "$SECONDS" -lt "$deadline" ] || { tail -n 40 "$log" >&2; die "$what did not answer in time"; }
    sleep 0.3
  done
}

answers() { python3 "$ROOT/scripts/answers.py" "$1"; } # URL

make_venv() { # FOLDER
  python3 -m venv "$1" >/dev/null 2>&1 && return
  rm -rf "$1"
  apt_install python3-venv && python3 -m venv "$1" >&2
}

# python_package NAME VERSION SIZE: installs a Python package into a venv of its own in the cache,
# once, and prints the venv. The marker is written last: a venv cannot be moved into place. Its
# interpreter is a link, which breaks when the Python it was made with goes.
python_package() {
  local name="$1" version="$2" venv="$CACHE/$1-$2"
  venv_finished() { [ "$(cat "$venv/.installed" 2>/dev/null)" = "$version" ] && [ -x "$venv/bin/python3" ]; }
  if ! venv_finished; then
    need python3 python3
    one_at_a_time "$name"
  fi
  if ! venv_finished; then
    say "installing $name $version ($3, once)"
    rm -rf "$venv"
    make_venv "$venv" || die "python3 cannot make a venv; install it (Debian: apt-get install python3-venv)"
    "$venv/bin/python3" -m pip install -q --disable-pip-version-check "$name==$version" >&2
    echo "$version" >"$venv/.installed"
  fi
  echo "$venv"
}

# as_server FOLDER SIGNAL COMMAND...: runs a server that refuses to be root as an unprivileged user,
# HYBRIDGE_TEST_USER (nobody), who gets the folder and must be able to enter it. SIGNAL ends it with its parent.
as_server() {
  local folder="$1" as=(setpriv --pdeathsig "$2") user="${HYBRIDGE_TEST_USER:-nobody}"
  shift 2
  if is_root; then
    chown -R "$user" "$folder"
    as+=(--reuid="$user" --regid="$(id -g "$user")" --clear-groups)
  fi
  exec "${as[@]}" "$@"
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

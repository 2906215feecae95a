# Shared by the scripts: what takes time is a step with one line on standard error, and what programs print goes into a log.
# Expects $root. On a terminal the line is rewritten as the step goes on; elsewhere it grows by quarters.
logs=$root/build/logs
say() { printf '%s\n' "$*" >&2; }

if [ -t 2 ]; then
  rewind=$'\r\e[K' dim=$'\e[2m' plain=$'\e[0m' live=1
else
  rewind='' dim='' plain='' live=''
fi

# duration SECONDS: "34 s", "5 min 12 s"
duration() { if [ "$1" -lt 60 ]; then echo "$1 s"; else echo "$(($1 / 60)) min $(($1 % 60)) s"; fi; }

# step [--lazy] LOG TITLE COMMAND…: runs COMMAND with its output in build/logs/LOG.log. What it writes to descriptor 3 is shown behind the
# title, "12/48" also as a share. Lazy: nothing is shown before such a line came, or if none comes. On failure: the end of the log and its path.
step() {
  local lazy='' log title start=$SECONDS shown='' news='' quarter=0 status='' part='' feed line
  if [ "$1" = --lazy ]; then lazy=1; shift; fi
  log=$logs/$1.log title=$2
  shift 2
  mkdir -p "$logs"
  trap 'say "$rewind"; say "stopped; the same command goes on from here"; trap - INT; kill -INT $$' INT
  exec {feed}< <(set +e; (set -e; "$@") 3>&1 > "$log" 2>&1 < /dev/null; echo "=$?")
  [ "$lazy" ] || step_show
  while [ -z "$status" ]; do
    if IFS= read -r -t 1 line <&"$feed"; then
      line=$part$line part=''
      case $line in =*) status=${line#=} ;; *) news=$line; step_show ;; esac
    elif [ $? -gt 128 ]; then
      part+=$line  # the time was up, perhaps in the middle of a line
    else
      status=1  # it was killed
    fi
    if [ "$shown" ] && [ "$live" ]; then step_show; fi
  done
  exec {feed}<&-
  trap - INT
  if [ "$status" -eq 0 ]; then
    if [ -z "$shown" ]; then :; elif [ "$live" ]; then
      say "$rewind$dim$title, $(duration $((SECONDS - start)))$plain"
    else say " $(duration $((SECONDS - start)))"; fi
    return
  fi
  [ -z "$shown" ] || say "$rewind"
  step_failure "$log" >&2
  say "$title failed after $(duration $((SECONDS - start))); all of its output: $log"
  return "$status"
}

# The line of the running step, with bash's view of its variables.
step_show() {
  if [ "$live" ]; then
    printf '%s%s %s %s' "$rewind" "$title" "$news" "$dim$(duration $((SECONDS - start)))$plain" >&2
  elif [ -z "$shown" ]; then
    printf '%s …' "$title" >&2
  fi
  shown=1
  if [[ -z $live && $news =~ ^([0-9]+)/([0-9]+) ]] && [ "${BASH_REMATCH[2]}" -gt 0 ]; then
    local now=$((BASH_REMATCH[1] * 4 / BASH_REMATCH[2]))
    if [ "$now" -gt "$quarter" ]; then
      quarter=$now
      [ "$now" -ge 4 ] || printf ' %s %% …' $((now * 25)) >&2
    fi
  fi
}

# step_failure LOG: what of a log says why: from a compiler's first error on, else its end
step_failure() {
  if grep -q '^FAILED:' "$1"; then sed -n '/^FAILED:/,$p' "$1" | head -n 40; else tail -n 25 "$1"; fi
}

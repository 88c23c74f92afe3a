# Sourced by the set-up scripts: numbered steps with their time, logs under build/log, a clear word when one fails.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
logs=$root/build/log
venvs=$root/.venv
mkdir -p "$logs"

step_number=0
step_total=${step_total:-1}

say() { printf '%s\n' "$*"; }

die() {
  printf 'set-up stopped: %s\n' "$*" >&2
  exit 1
}

# step NAME WHAT COMMAND...: runs COMMAND with its output in build/log/NAME.txt. On a terminal the seconds tick.
# ADVICE, when set, says what to do if it fails.
step() {
  local name=$1 what=$2 log=$logs/$1.txt start=$SECONDS rc=0
  shift 2
  step_number=$((step_number + 1))
  local head="[$step_number/$step_total] $what"
  if [ -t 1 ]; then
    "$@" >"$log" 2>&1 </dev/null &
    local job=$!
    while kill -0 "$job" 2>/dev/null; do
      printf '\r%s ... %ds ' "$head" $((SECONDS - start))
      sleep 0.2
    done
    wait "$job" || rc=$?
    printf '\r'
  else
    printf '%s ...\n' "$head"
    "$@" >"$log" 2>&1 </dev/null || rc=$?
  fi
  if [ "$rc" -eq 0 ]; then
    printf '%s: done in %ds    \n' "$head" $((SECONDS - start))
    return 0
  fi
  printf '%s: FAILED after %ds (exit %d). The end of %s:\n' "$head" $((SECONDS - start)) "$rc" "${log#"$root"/}" >&2
  tail -n 25 "$log" | sed 's/^/    /' >&2
  printf 'What to do: %s\n' "${ADVICE:-read the log above, mend it, and run the same make command again.}" >&2
  exit "$rc"
}

# A step with nothing to do is still counted, so that the numbers add up.
done_already() {
  step_number=$((step_number + 1))
  printf '[%d/%d] %s: already there\n' "$step_number" "$step_total" "$1"
}

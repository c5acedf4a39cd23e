#!/bin/sh
# One run of the Action. Nothing of the event is put into this script: countersign reads it from the
# runner's file itself.
set -eu

# Nothing that is printed from here on is a workflow command, whatever it quotes.
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
printf '::stop-commands::%s\n' "$token"
code=0
set -- action --rules "${COUNTERSIGN_RULES:-example}"
if [ -n "${COUNTERSIGN_TARGET:-}" ]; then
    set -- "$@" --target "$COUNTERSIGN_TARGET"
fi
"${COUNTERSIGN_BINARY:-countersign}" "$@" || code=$?
printf '::%s::\n' "$token"

if [ "$code" -eq 1 ] && [ "${COUNTERSIGN_FAIL_ON_REJECTED:-true}" = false ]; then
    code=0
fi
exit "$code"

# For the scripts of this folder: is Node.js here, and are the packages?
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true

node_lacks() { # says what is missing, and fails if nothing is
  local wanted present
  wanted=$(sed -n 's/.*"node": ">=\([0-9.]*\)".*/\1/p' package.json)
  present=$(node -p process.versions.node 2>/dev/null || echo none)
  if command -v npm >/dev/null && [[ $present != none ]] && printf '%s\n%s\n' "$wanted" "$present" | sort -VC; then
    return 1
  fi
  printf 'it needs Node.js %s or newer with npm. Node.js here: %s' "$wanted" "$present"
}

modules_current() { [[ node_modules/.package-lock.json -nt package-lock.json ]]; }

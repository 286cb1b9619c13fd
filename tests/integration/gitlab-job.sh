#!/usr/bin/env bash
# gitlab-job.sh - the scripts of packaging/gitlab, with the real tailgate, and
# curl and unzip as scripts: what they leave, and the exit status.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
file=$TAILGATE_SOURCE/packaging/gitlab/tailgate.gitlab-ci.yml
mkdir bin
ln -s "$TAILGATE" bin/tailgate
export PATH=$dir/bin:$PATH
fail() { echo "$*"; cat out 2>/dev/null; exit 1; }

# script <job>: its lines, which GitLab runs up to the first that fails.
script() {
    awk -v job="$1:" '
        /^[^ #]/ { mine = $1 == job; inside = 0 }
        !mine { next }
        /^  [a-z]/ { inside = $1 == "script:"; next }
        inside && /^    - \|$/ { next }
        inside { sub(/^    (- |  )/, ""); print }' "$file"
}

# variables <job>: those that the file sets.
variables() { sed -n '/^  variables:/,/^  script:/s/^    \([A-Z_]*\): "*\([^"]*\)"*$/\1=\2/p' "$file"; }

# job <name> <status> <variables...>
job() {
    local name=$1 want=$2 status=0
    shift 2
    script "$name" >job.sh
    # shellcheck disable=SC2046  # a list
    env $(variables) "$@" sh -eu job.sh >out 2>&1 || status=$?
    [ "$status" -eq "$want" ] || fail "$name $*: exit $status, expected $want"
}

cat >slo.yaml <<'END'
name: job
stub: {service: fixed 2ms, replicas: 16}
load: {rate: 200/s, duration: 2s, warmup: 200ms}
slo: [e2e p90 < 1s]
END
sed 's/< 1s/< 1ms/' slo.yaml >strict.yaml
sed 's/rate: 200/rate: 300/' slo.yaml >faster.yaml

# The image starts tailgate; the job needs a shell.
grep -q '^    entrypoint: \[""\]' "$file" || fail 'the job does not replace the entry point of the image'
job tailgate 0
grep -q 'nothing is compared' out || fail 'a comparison with nothing'
for left in tailgate-ci tailgate-report.html tailgate-junit.xml; do
    { [ -e "$left" ] && grep -q "[: [,]$left\b" "$file"; } || fail "no artifact $left"
done
mv tailgate-ci made
job tailgate 1 TAILGATE_SETTINGS=strict.yaml

# The baseline job, with an archive that holds the result made above.
printf '#!/bin/sh\necho "$*" >asked\n[ ! -e offline ] && touch baseline.zip\n' >bin/curl
printf '#!/bin/sh\nrm -rf tailgate-ci\ncp -r made tailgate-ci\n' >bin/unzip
chmod +x bin/curl bin/unzip
set -- CI_JOB_TOKEN=secret CI_API_V4_URL=https://gitlab.invalid/api/v4 CI_PROJECT_ID=5 CI_DEFAULT_BRANCH=main
touch offline
job tailgate-baseline 0 "$@" TAILGATE_TOKEN=
[ ! -e tailgate-baseline ] || fail 'a baseline from nowhere'
rm offline
job tailgate-baseline 0 "$@" TAILGATE_TOKEN=
grep -q 'JOB-TOKEN:secret .*/projects/5/jobs/artifacts/main/download?job=tailgate$' asked || fail "asked: $(cat asked)"
job tailgate-baseline 0 "$@" TAILGATE_TOKEN=mine
grep -q 'PRIVATE-TOKEN:mine ' asked || fail "asked: $(cat asked)"
job tailgate 4 TAILGATE_SETTINGS=faster.yaml
grep -qi refused out || fail 'another rate is compared'
[ -s tailgate-compare.html ] || fail 'no page of the comparison'

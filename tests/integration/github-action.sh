#!/usr/bin/env bash
# github-action.sh - the shell steps of packaging/github-action, with the real
# tailgate: what the step summary and the outputs hold, and the exit status.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
mkdir bin
ln -s "$TAILGATE" bin/tailgate
export PATH=$dir/bin:$PATH GITHUB_STEP_SUMMARY=$dir/summary.md GITHUB_OUTPUT=$dir/output
action=$TAILGATE_SOURCE/packaging/github-action
fail() { echo "$*"; cat out 2>/dev/null; exit 1; }

cat >slo.yaml <<'END'
name: action
stub: {service: fixed 2ms, replicas: 16}
load: {rate: 200/s, duration: 2s, warmup: 200ms}
slo: [e2e p90 < 1s]
END

# check <status> <variables...>
check() {
    local want=$1 status=0
    shift
    rm -rf tailgate-ci
    : >summary.md
    : >output
    env SETTINGS=slo.yaml "$@" "$action/check" >out 2>&1 || status=$?
    [ "$status" -eq "$want" ] || { cat summary.md; fail "$*: exit $status, expected $want"; }
}

check 0 ARGS=
grep -q '^verdict=pass$' output || fail 'no verdict in the outputs'
grep -q 'e2e p90 ' summary.md || fail 'no SLO in the step summary'
for file in junit.xml report.html recording/summary.json; do
    [ -s "tailgate-ci/$file" ] || fail "no $file"
done
mv tailgate-ci/recording base

sed 's/< 1s/< 1ms/' slo.yaml >strict.yaml
check 1 SETTINGS=strict.yaml
grep -q '^verdict=fail$' output || fail 'a missed SLO is not a fail'
check 4 ARGS='--duration 20ms' UNDECIDED=fail
check 0 ARGS='--duration 20ms' UNDECIDED=warn
grep -q '^::warning::' out || fail 'no warning'
check 2 ARGS='--rate nonsense'
check 0 BASELINE=missing
grep -q '^::notice::.*no baseline' out || fail 'no notice of a missing baseline'
check 4 BASELINE=base ARGS='--rate 100'
grep -qi 'refused' summary.md || fail 'a comparison of two rates is not refused'

# A regression that still meets the SLO: trials of both, as sets.  Service takes long
# compared with what a busy machine delays a client.
sed 's/rate: 200/rate: 100/; s/fixed 2ms, replicas: 16/exponential 40ms, replicas: 64/' slo.yaml >base.yaml
sed 's/40ms/120ms/' base.yaml >slower.yaml
check 0 SETTINGS=base.yaml ARGS='--trials 5'
grep -q '^verdict=pass$' output || fail 'no verdict of trials in the outputs'
rm -rf base
mv tailgate-ci/recording base
check 1 SETTINGS=slower.yaml ARGS='--trials 5' BASELINE=base VARY=stub.service
grep -q '^verdict=pass$' output || fail 'the slower one meets the SLO'
grep -qi 'worse' summary.md || fail 'a regression is not called worse'
[ -s tailgate-ci/compare.html ] || fail 'no page of the comparison'

# gh, as a script that keeps comments in a folder, and has one artifact.
mkdir comments
cat >bin/gh <<'END'
#!/usr/bin/env bash
echo "gh $*" >>calls
for last; do :; done
case "$1 $2 $3" in
'run list '*) cat runs ;;
'run download '*) [ "$3" = 7 ] && mkdir -p "$last/recording" ;;
'api --paginate '*)
    marker=${last#*\"}
    grep -lF -- "${marker%\"*}" comments/* | sed 's|.*/||' ;;
'api --method PATCH') cp "${last#body=@}" "comments/${4##*/}" ;;
'api --method POST') [ ! -e readonly ] && cp "${last#body=@}" "comments/$(($(ls comments | wc -l) + 1))" ;;
esac
END
chmod +x bin/gh
export GITHUB_REPOSITORY=o/r GITHUB_WORKFLOW_REF=o/r/.github/workflows/slo.yml@refs/heads/x PULL=3
echo 'someone else' >comments/1
for round in 1 2; do NAME=a "$action/comment" || fail 'comment failed'; done
NAME=b "$action/comment" || fail 'comment failed'
[ "$(ls comments | wc -l)" = 3 ] || fail "not one comment per name: $(ls comments)"
{ grep -q 'e2e p90 ' comments/2 && grep -qi worse comments/2; } || fail 'the comment has no SLO, or no comparison'
[ "$(cat comments/1)" = 'someone else' ] || fail 'the comment of another was replaced'
touch readonly
NAME=c "$action/comment" >out || fail 'a token that may not comment fails the job'
grep -q '^::notice::' out || fail 'no notice that there is no comment'

# The baseline of a branch: there is none yet, then there is one.
: >output
: >runs
BRANCH=main NAME=tailgate "$action/baseline" >out || fail 'no baseline fails the job'
{ grep -q '^::notice::' out && [ ! -s output ]; } || fail 'a baseline from nowhere'
echo 7 >runs
BRANCH=main NAME=tailgate "$action/baseline" >out || fail 'baseline failed'
grep -q -- '--workflow slo.yml --branch main' calls || fail 'the runs of another workflow or branch'
[ -d "$(sed -n 's/^directory=//p' output)" ] || fail 'the baseline is not where the output says'

# The program: it stays if it is there, or comes out of a tarball.
export GITHUB_PATH=$dir/path RUNNER_TEMP=$dir
: >path
{ "$action/install" && [ ! -s path ]; } || fail 'installed although it is there'
mkdir -p packed/tailgate-0/bin
ln -s "$TAILGATE" packed/tailgate-0/bin/tailgate
tar -C packed -czf t.tar.gz tailgate-0
PATH=/usr/bin:/bin TARBALL=t.tar.gz "$action/install" >out || fail 'install failed'
"$(cat path)/tailgate" version >/dev/null || fail 'the tarball is not in the path'

# Every input of the steps is one of the action, and the other way round.
for input in $(grep -o 'inputs\.[a-z-]*' "$action/action.yml" | sort -u); do
    grep -q "^  ${input#inputs.}:" "$action/action.yml" || fail "action.yml: no $input"
done
for input in $(sed -n '/^inputs:/,/^outputs:/s/^  \([a-z-]*\):.*/\1/p' "$action/action.yml"); do
    grep -q "inputs\.$input\b" "$action/action.yml" || fail "action.yml: $input is not used"
    [ "$input" = token ] || grep -q "^| \`$input\`" "$TAILGATE_SOURCE/docs/ci.md" || fail "docs/ci.md: no $input"
done

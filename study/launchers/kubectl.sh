# shellcheck shell=sh disable=SC2034,SC2086  # each.sh uses it; commands have several words
# kubectl:N - an Indexed Job with one pod per shard, from a template.  The plan
# is a Secret, since it may hold an API key.  A pod keeps its recording until it
# was fetched, so that no volume is needed; then job and secret are deleted.
kubectl=${TAILGATE_KUBECTL:-kubectl}
name=tailgate-$(date +%s)-$$
manifest=$TAILGATE_OUT/job.yaml
sed -e "s|{name}|$name|g" -e "s|{shards}|$TAILGATE_SHARDS|g" \
    -e "s|{image}|${TAILGATE_IMAGE:-tailgate}|g" \
    "${TAILGATE_JOB:-$TAILGATE_OUT/job.template}" >"$manifest" || exit 1
clean_up() {
    trap '' TERM INT HUP USR1 # a second shard that fails must not end this
    $kubectl delete job "$name" --wait=false --ignore-not-found >/dev/null
    $kubectl delete secret "$name" --ignore-not-found >/dev/null
    rm -f "$manifest"
}
trap clean_up EXIT
trap 'exit 1' TERM INT HUP # so that a signal runs the EXIT trap, too
$kubectl create secret generic "$name" --from-file=plan.json="$TAILGATE_PLAN" >/dev/null || exit 1
$kubectl apply -f "$manifest" >/dev/null || exit 1

# The pod of an index is called NAME-INDEX-xxxxx.
pod_of() {
    $kubectl get pods -l "job-name=$name" -o name | sed -n "s|^pod/\($name-$1-.*\)|\1|p" | head -n 1
}
phase_of() {
    $kubectl get pod "$1" -o 'jsonpath={.status.phase}'
}
shard() {
    until pod=$(pod_of "$1") && [ -n "$pod" ]; do
        sleep "${TAILGATE_POLL:-1}"
    done
    until $kubectl exec "$pod" -- test -e /results/done 2>/dev/null; do
        if [ "$(phase_of "$pod")" = Failed ]; then
            echo "shard $1, pod $pod:" >&2
            $kubectl logs "$pod" --tail=3 >&2
            return 1
        fi
        sleep "${TAILGATE_POLL:-1}"
    done
    "$TAILGATE_EXE" clock --json $kubectl exec -i "$pod" -- tailgate clock \
        >"$TAILGATE_OUT/$1.clock" || rm -f "$TAILGATE_OUT/$1.clock"
    $kubectl exec "$pod" -- tar -C /results -cf - "$1" | tar -C "$TAILGATE_OUT" -xf - || return 1
    $kubectl exec "$pod" -- touch /results/fetched
}
on_signal='exit 1' # pods do not get our signals; the job is deleted
each_shard shard

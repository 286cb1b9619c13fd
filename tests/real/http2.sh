# http2.sh - a part of tests/real/run: HTTP/2 servers in node and Python.
# shellcheck shell=sh
# shellcheck disable=SC2154  # here, dir, url and tailgate are those of run and lib.sh

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=127.0.0.1 -days 2 \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$dir/http2.key" -out "$dir/http2.pem" 2>/dev/null

head -c 4000 /dev/zero | tr '\0' x >"$dir/body"

# http2_case <server> <kind> <requests that succeed> <others> <key or none> <flags...>: every
# request is accounted for.
http2_case() {
    server_name=$1 kind=$2 ok=$3 not_ok=$4 key=$5
    shift 5
    program=node script=$here/http2_server.mjs
    [ "$server_name" = node ] || program=/usr/bin/python3 script=$here/http2_server.py
    name=$server_name-$kind${key:+-tls}
    if start "$program" "$script" "$kind" ${key:+"$key" "$dir/http2.pem"}; then
        check "tailgate run, HTTP/2, $name" load "http2-$name" / --http2 \
            -c 16 -n $((ok + not_ok)) ${key:+--cacert "$dir/http2.pem"} "$@"
        equal "$name: succeeded" "$(summary "http2-$name" requests.ok)" "$ok"
        equal "$name: failed" "$(summary "http2-$name" requests.failed)" "$not_ok"
        stop
    else
        check "$name starts" false
    fi
}

http2_case node plain 1000 0 ''
http2_case node plain 1000 0 "$dir/http2.key"
http2_case node limit 1000 0 ''
http2_case node goaway 1000 0 ''
http2_case node settings 1000 0 ''
http2_case node reset 900 100 ''
http2_case python hypercorn 1000 0 '' --body "@$dir/body"
http2_case python hypercorn 1000 0 "$dir/http2.key" --body "@$dir/body"
http2_case python settings 1000 0 '' --body "@$dir/body"
http2_case python goaway 1000 0 '' --body "@$dir/body"
http2_case python reset 900 100 '' --body "@$dir/body"
# 16 bodies of 4,000 bytes fit the first window of the one connection.
http2_case python window 16 4 '' --body "@$dir/body" -c 1 --timeout 500ms

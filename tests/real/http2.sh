# http2.sh - a part of tests/real/run: node's HTTP/2 server.
# shellcheck shell=sh
# shellcheck disable=SC2154  # here, dir, url and tailgate are those of run and lib.sh

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=127.0.0.1 -days 2 \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$dir/http2.key" -out "$dir/http2.pem" 2>/dev/null

# http2_case <kind> <requests that succeed of 1,000> <flags...>
http2_case() {
    kind=$1 ok=$2
    shift 2
    if start node "$here/http2_server.mjs" "$kind" "$dir/http2.key" "$dir/http2.pem"; then
        check "tailgate run, node's http2, $kind" load "http2-$kind" / --http2 -c 16 -n 1000 "$@"
        equal "node's http2, $kind: succeeded" "$(summary "http2-$kind" requests.ok)" "$ok"
        stop
    else
        check "node's http2 starts, $kind" false
    fi
}

http2_case plain 1000
http2_case tls 1000 --cacert "$dir/http2.pem"
http2_case limit 1000
http2_case goaway 1000
http2_case settings 1000
http2_case reset 900

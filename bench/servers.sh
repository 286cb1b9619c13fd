# servers.sh - sourced by the benchmarks that need a server: starts them on
# loopback ports, ends them at exit, and keeps them and their clients on CPUs
# of their own.  Needs $1, the build, and $tailgate; gives $dir, a scratch
# directory.
# shellcheck shell=sh disable=SC2119,SC2120,SC2154
cmake --build "$1" --target benches >/dev/null
dir=$(mktemp -d)
pids=
trap 'for p in $pids; do kill "$p" 2>/dev/null || true; done; wait; rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP PIPE

# cpu <n>: the n-th CPU that we may use; nothing if there are fewer.
cpu() {
    taskset -cp $$ 2>/dev/null | sed 's/.*: //' | awk -F, -v n="$1" '{
        for (i = 1; i <= NF; i++) {
            k = split($i, ends, "-")
            for (c = ends[1] + 0; c <= ends[k] + 0; c++)
                if (++seen == n) print c
        }
    }'
}
client_cpu=$(cpu 2)
server_cpu=
[ -z "$client_cpu" ] || server_cpu=$(cpu 1)

# exec_on <cpu> <command...>: become it there, or anywhere if that is empty.  As
# in "exec_on ... &", so that $! is the command, or in "(exec_on ...)".
exec_on() {
    on=$1
    shift
    [ -z "$on" ] || set -- taskset -c "$on" "$@"
    exec "$@"
}

# where: one line that says which program runs on which CPU.
where() {
    if [ -z "$client_cpu" ]; then
        echo 'server and clients share the only CPU'
        return
    fi
    siblings=$(cat "/sys/devices/system/cpu/cpu$server_cpu/topology/thread_siblings_list" 2>/dev/null || true)
    case ",$(echo "$siblings" | tr - ,)," in
    *",$client_cpu,"*) kind=', two threads of one core' ;;
    *) kind= ;;
    esac
    echo "server on CPU $server_cpu, clients on CPU $client_cpu$kind"
}

# soon <command...>: until it succeeds, which it must within 5 s.
soon() {
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ "$tries" -lt 100 ] || { echo "a server does not start" >&2; exit 1; }
        sleep 0.05
    done
}

# start_stub <flags...>: sets server_pid and server_url.
start_stub() {
    : >"$dir/stub.out"
    exec_on "$server_cpu" "$tailgate" stub "$@" >"$dir/stub.out" &
    server_pid=$!
    pids="$pids $server_pid"
    soon grep -q '^listening on ' "$dir/stub.out"
    server_url=$(sed -n 's/^listening on //p' "$dir/stub.out")
}

# start_nginx: one process that answers everything with 32 bytes of JSON; sets
# server_pid and server_url.
start_nginx() { serve_nginx http "" ""; }

# start_nginx_tls: the same over TLS, HTTP/1.1 or HTTP/2, with a certificate that
# stands in $dir/server.pem.
start_nginx_tls() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=127.0.0.1 -days 2 \
        -addext subjectAltName=IP:127.0.0.1 -keyout "$dir/server.key" -out "$dir/server.pem" 2>/dev/null
    serve_nginx https "ssl http2" "ssl_certificate $dir/server.pem; ssl_certificate_key $dir/server.key;"
}

# serve_nginx <scheme> <words of listen> <lines of server>
serve_nginx() {
    # nginx cannot take port 0: take one that was free a moment ago.
    start_stub
    port=${server_url##*:}
    stop_server "$server_pid"
    cat >"$dir/nginx.conf" <<CONF
worker_processes 1;
daemon off;
master_process off;
pid $dir/nginx.pid;
error_log $dir/error.log;
events { worker_connections 4096; }
http {
    access_log off;
    keepalive_requests 1000000000;
    client_body_temp_path $dir/body;
    proxy_temp_path $dir/proxy;
    fastcgi_temp_path $dir/fastcgi;
    uwsgi_temp_path $dir/uwsgi;
    scgi_temp_path $dir/scgi;
    server { listen 127.0.0.1:$port $2; $3 location / { default_type application/json; return 200 '{"pad":"xxxxxxxxxxxxxxxxxxxxxx"}'; } }
}
CONF
    exec_on "$server_cpu" nginx -c "$dir/nginx.conf" -p "$dir" 2>/dev/null &
    server_pid=$!
    server_url=$1://127.0.0.1:$port
    pids="$pids $server_pid"
    soon test -s "$dir/nginx.pid" # written once it listens
}

# stop_server <pid>, and wait until it is gone.
stop_server() {
    kill "$1"
    wait "$1" || true
    left=
    for p in $pids; do [ "$p" = "$1" ] || left="$left $p"; done
    pids=$left
}

# installed <tool> <package>: or one line says that it is not.
installed() {
    command -v "$1" >/dev/null || { echo "$1: not installed (Debian's $2)"; return 1; }
}

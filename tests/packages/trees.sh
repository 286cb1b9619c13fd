# trees.sh - sourced by the tests of packages: bare Debian trees by debootstrap.
# Needs root and the network.  Gives $dir, a scratch directory, removed at exit.
# shellcheck shell=sh
for tool in debootstrap chroot; do
    command -v $tool >/dev/null || { echo "$tool is missing: apt-get install debootstrap" >&2; exit 3; }
done
[ "$(id -u)" -eq 0 ] || { echo "making Debian trees needs root" >&2; exit 3; }
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
dir=$(mktemp -d)
# Nothing is removed through a mount that is still there.
clean_up() {
    for tree in "$dir"/*/proc; do
        [ ! -e "$tree/self" ] || umount "$tree" || { echo "still mounted: $tree; left $dir" >&2; return; }
    done
    rm -rf --one-file-system "$dir"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# tree <suite> <name>: a bare tree $dir/<name>, with proc.
tree() {
    cache=$dir/$1.tar
    if [ ! -f "$cache" ]; then
        mkdir "$dir/made"
        debootstrap --variant=minbase "$1" "$dir/made" "$mirror" >"$dir/debootstrap.log" 2>&1 ||
            { tail -n 3 "$dir/debootstrap.log"; return 1; }
        ! mountpoint -q "$dir/made/proc" || umount "$dir/made/proc"
        tar -C "$dir/made" --one-file-system -cf "$cache" .
        rm -rf --one-file-system "$dir/made"
    fi
    mkdir "$dir/$2"
    tar -C "$dir/$2" -xf "$cache"
    cp /etc/resolv.conf "$dir/$2/etc/resolv.conf"
    mount -t proc proc "$dir/$2/proc"
}

# inside <name> <command...>
inside() {
    in=$1
    shift
    chroot "$dir/$in" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
        DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}

#!/bin/sh
# hardened.sh <readelf> <executable> - what is installed has a stack protector,
# checked string functions, read-only relocations and no fixed address.
set -eu
readelf=$1
binary=$2

# has <what> <pattern> <readelf options...>: a line of the output matches.
has() {
    what=$1
    pattern=$2
    shift 2
    "$readelf" -W "$@" "$binary" | grep -Eq "$pattern" ||
        { echo "$binary: $what is missing"; exit 1; }
}

has 'PIE' 'Type: +DYN' -h
has 'RELRO' 'GNU_RELRO' -l
has 'BIND_NOW' 'BIND_NOW|Flags:.* NOW' -d
has 'the stack protector' ' __stack_chk_fail(@|$)' --dyn-syms
has 'FORTIFY_SOURCE' ' __[a-z]+_chk(@|$)' --dyn-syms

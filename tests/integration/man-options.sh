#!/bin/sh
# The man page and the help list the same flags, command by command.
set -eu
page=$TAILGATE_SOURCE/man/tailgate.1
bad=0

# of_help <command>: all flags in its help: "-R, --rate" or "--name".
of_help() {
    "$TAILGATE" help "$1" --all | grep -oE '^ {2,6}(-[A-Za-z], )?--[a-z0-9-]+' |
        sed 's/^ *//' | sort
}

# of_page <command>: the same from the sections OPTIONS OF ... that name it.
of_page() {
    sed 's/\\-/-/g' "$page" | awk -v command="$(echo "$1" | tr a-z A-Z)" '
        /^\.SH/ { inside = /OPTIONS OF/ && (" " $0 " ") ~ ("[ ,]" command "[ ,]") }
        inside && /^\.B[RI]? / {
            match($0, /--[a-z0-9-]+/)
            flag = substr($0, RSTART, RLENGTH)
            print ($2 ~ /^-[A-Za-z]$/ ? $2 ", " : "") flag
        }' | sort
}

for command in run search sweep merge shard report compare scale baseline stub calibrate init validate; do
    if [ "$(of_help "$command")" != "$(of_page "$command")" ]; then
        echo "$command, flags of the help:" $(of_help "$command")
        echo "$command, flags of the page:" $(of_page "$command")
        bad=1
    fi
    [ "$(of_help "$command" | wc -l)" -gt 1 ]
done
[ "$(of_help run | wc -l)" -gt 20 ]
of_help run | grep -q '^-R, --rate$'
exit $bad

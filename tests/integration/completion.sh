#!/bin/sh
# Completions in the real shells: what each offers for a command line that ends
# in a word, from the file that `tailgate completion` writes.  bash is required;
# a shell that is not installed is skipped with a message.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0

# cases: <command line> | <what is offered, in any order>; a line that ends in a
# blank asks for a new word.
cat >"$dir/cases" <<'CASES'
tailgate val|validate
tailgate r|report rerun run
tailgate help comp|compare completion
tailgate completion |bash fish zsh
tailgate run --scenario s|server sessions single-stream
tailgate run --scenario off|offline
tailgate run --no-pre|--no-preflight
tailgate sweep --concurrenc|--concurrencies --concurrency
tailgate run --rate 5 --arrival g|gamma
tailgate run SETT|SETTINGS.yaml
tailgate run --data SETT|SETTINGS.yaml
tailgate run --rate |
CASES
touch "$dir/SETTINGS.yaml"
for shell in bash zsh fish; do
    "$TAILGATE" completion "$shell" >"$dir/$shell"
done

# ask_<shell> <command line>: one candidate per line.
ask_bash() {
    (cd "$dir" && LINE=$1 bash -c '
        source ./bash
        read -ra COMP_WORDS <<<"$LINE"
        [[ $LINE != *" " ]] || COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _tailgate
        printf "%s\n" "${COMPREPLY[@]}"')
}
ask_fish() {
    (cd "$dir" && HOME=$dir LINE=$1 fish --no-config -c 'source ./fish; complete -C "$LINE"' | sed 's/\t.*//')
}

# zsh completes only in a terminal.  The candidates go to a file.
cat >"$dir/rc.zsh" <<'ZSH'
PROMPT=
autoload -U compinit
compinit -D -u
source ./zsh
compadd() {
    local -a found
    builtin compadd -O found "$@"
    print -l -- $found >>offered
    builtin compadd "$@"
}
finish() {
    zle list-choices
    print FINI''SHED
}
zle -N finish
bindkey '^X' finish
print REA''DY
ZSH
cat >"$dir/drive.zsh" <<'ZSH'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'source ./rc.zsh'
zpty -r -m shell seen '*READY*'
zpty -w -n shell "$LINE"$'\C-x'
zpty -r -m shell seen '*FINISHED*'
zpty -d shell
ZSH
ask_zsh() {
    (cd "$dir" && : >offered && HOME=$dir LINE=$1 zsh -f ./drive.zsh && sed 's/=$//' offered)
}

for shell in bash zsh fish; do
    if ! command -v "$shell" >/dev/null; then
        echo "SKIPPED: $shell is not installed"
        [ "$shell" != bash ] || exit 1
        continue
    fi
    while IFS='|' read -r line want; do
        got=$("ask_$shell" "$line" | sort -u | tr '\n' ' ' | sed 's/^ *//;s/ *$//')
        if [ "$got" != "$want" ]; then
            echo "$shell: '$line' offers '$got', not '$want'"
            bad=1
        fi
    done <"$dir/cases"
done
exit $bad

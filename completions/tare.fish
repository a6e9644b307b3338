# fish completion for tare: commands from `tare help all`, options from `tare COMMAND --help=all`, events from
# `tare events --names`.

function __tare_words
    commandline -opc
end

function __tare_before_command
    test (count (__tare_words)) -eq 1
end

# Options of tare end at "--": the rest is a command line.
function __tare_in_options
    set -l words (__tare_words)
    test (count $words) -gt 1; and not contains -- -- $words
end

# NAME<tab>what it does
function __tare_commands
    tare help all 2>/dev/null | string replace -rf '^  ([a-z]+) {2,}(.*)$' '$1\t$2'
end

# Lines "  -e, --event EVENTS   ..." and "      --names   ..."
function __tare_options
    set -l words (__tare_words)
    set -l lines (tare $words[2] --help=all 2>/dev/null | string match -r '^ {2}(?:-|    --).*')
    printf '%s\n' $lines | string replace -rf '^ +(-\w),.* {2,}(\S.*)$' '$1\t$2'
    printf '%s\n' $lines | string replace -rf '^ +(?:-\w, )?(--[a-z-]+).*? {2,}(\S.*)$' '$1\t$2'
end

function __tare_events
    tare events --names (commandline -ct) 2>/dev/null
end

complete -c tare -n __tare_before_command -f -a '(__tare_commands)'
complete -c tare -n '__tare_in_options; and string match -q -- "-*" (commandline -ct)' -f -a '(__tare_options)'
complete -c tare -n __tare_in_options -s e -l event -x -a '(__tare_events)'

#compdef tfprof
# Tab for tfprof in zsh:  source <(tfprof completion zsh), or a file _tfprof in a folder of $fpath
_tfprof_output() {
    if compset -P '*:outfile='; then
        _files
    else
        compadd -S '' -- ${(M)@:#*=}
        compadd -- ${@:#*=}
    fi
}
_tfprof_first() {
    local -a commands=(
        @described@
    )
    _describe command commands
    [[ -n $PREFIX ]] && _files
}
_tfprof() {
    local word command=none
    local -a options rest
    for word in ${words[2,CURRENT-1]}; do
        case $word in
            @commands@
        esac
    done
    case $command in
        @options@
    esac
    case $command in
        @arguments@
        *) rest=('*:file:_files') ;;
    esac
    _arguments -S : $options $rest
}
if [[ $funcstack[1] == _tfprof ]]; then _tfprof "$@"; else compdef _tfprof tfprof; fi

# Tab for tfprof in bash:  source <(tfprof completion bash)
_tfprof() {
    local line=${COMP_LINE:0:COMP_POINT} command=none option= typed= shape=one words= item
    local word=${line##*[[:space:]]} prefix=
    local -a before
    read -ra before <<< "${line%"$word"}"
    for item in "${before[@]:1}"; do
        case $item in
            @commands@
        esac
    done
    COMPREPLY=()
    case $word in
        -*=*) option=${word%%=*} typed=${word#*=} prefix=$option= ;;
        -*) option= typed=$word ;;
        *) option=${before[${#before[@]}-1]} typed=$word
           [[ $option == -*=* || $option != -* ]] && option= ;;
    esac
    option=${option#-} option=${option#-}
    case $command:${option//-/_} in
        @values@
        *) option= ;;
    esac
    [[ $shape == nothing || ( $shape == one && $words == 'true false' && ! $prefix ) ]] && option=
    if [[ ! $option ]]; then
        prefix= typed=$word shape=one
        case $command:$word in
            @words@
            *) return ;;
        esac
    fi
    case $shape in
        list | files) prefix+=${typed%"${typed##*,}"} ;;
        output) [[ $typed == *:outfile=* ]] && return ;;
        file) return ;;
    esac
    if [[ $shape == files ]]; then
        [[ $typed == *,* ]] || return
        local IFS=$'\n'
        words=$(compgen -f -- "${typed##*,}")
    fi
    compopt +o default 2> /dev/null
    # Bash replaces only what stands behind the last character that breaks words for it.
    local breaks=${COMP_WORDBREAKS//[^=:]/} cut=
    [[ $breaks ]] && cut=${word%"${word##*[$breaks]}"}
    for item in $words; do
        [[ $shape == list && ,$typed == *,$item,* ]] && continue
        [[ $shape == files && -d $item ]] && item+=/
        [[ $prefix$item == "$word"* ]] || continue
        item=$prefix$item
        COMPREPLY+=("${item#"$cut"}")
        case $shape:$item in list:* | files:* | *=) compopt -o nospace 2> /dev/null ;; esac
    done
    if [[ none == $command && ! $option && $word && $word != -* ]]; then
        compopt -o filenames 2> /dev/null
        while IFS= read -r item; do COMPREPLY+=("$item"); done < <(compgen -f -- "$word")
    fi
}
complete -o default -F _tfprof tfprof

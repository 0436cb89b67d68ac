# Tab for tfprof in fish:  tfprof completion fish > ~/.config/fish/completions/tfprof.fish
function __tfprof_in --description 'whether the command typed is one of these'
    set -l words (commandline -opc)
    set -l command none
    for word in $words
        @commands@
            set command $word
            break
        end
    end
    contains -- $command $argv
end
function __tfprof_typed --description 'what is typed of a value'
    string replace -r '^--[^=]*=' '' -- (commandline -ct)
end
function __tfprof_list --description 'one more of these, behind a comma'
    set -l before (string match -r '^.*,' -- (__tfprof_typed))
    printf '%s\n' "$before"$argv
end
function __tfprof_files --argument-names until --description 'files behind what ends so'
    set -l typed (__tfprof_typed)
    set -l before (string match -r "^.*$until" -- $typed)
    set -l path (string sub -s (math (string length -- "$before") + 1) -- $typed)
    printf '%s\n' "$before"(__fish_complete_path "$path")
end
function __tfprof_output --description 'one of these, or a file'
    if string match -q '*:outfile=*' -- (__tfprof_typed)
        __tfprof_files ':outfile='
    else
        printf '%s\n' $argv
    end
end
complete -c tfprof -e
complete -c tfprof -f
@files@
@options@
@arguments@

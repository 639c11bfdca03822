# Completion of the espalier command for bash. tests/docs holds it to the options that the command has.

_espalier() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    local analysis='--factorization --matching --scaling --precision --ordering --threads --schedule --alloc
        --comm-threads --split --max-memory --json --quiet --verbose --help'
    local options
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W 'solve analyze generate machine --help --version' -- "$word")
        return
    fi
    case $command in
        solve) options="$analysis --operation --mixed-precision --condition --null-space --rhs --nrhs --refine
            --tolerance --trace --output" ;;
        analyze) options=$analysis ;;
        generate) options='--output --quiet --help' ;;
        machine) options='--dgemm-order --json --quiet --help' ;;
        *) return ;;
    esac
    local values= files=
    case $before in
        --factorization) values='auto llh llt ldlt ldlh lu' ;;
        --matching | --scaling) values='auto on off' ;;
        --precision) values='s d c z' ;;
        --ordering) values='scotch metis amd natural' files=yes ;;
        --schedule) values='static' ;;
        --alloc) values='local global interleave' ;;
        --comm-threads) values='0 1 2' ;;
        --split) values='1d' ;;
        --operation) values='none transpose adjoint' ;;
        --rhs) values='ones random' files=yes ;;
        --refine) values='auto none ir cg gmres bicgstab' ;;
        --null-space | --output | -o | --json | --trace) files=yes ;;
        --threads | --nrhs | --tolerance | --max-memory | --dgemm-order) return ;;
        *)
            if [[ $word == -* ]]; then
                values=$options
            elif [[ $command == solve || $command == analyze ]]; then
                files=yes
            elif [[ $command == generate ]]; then
                values='lap2d lap3d elast3d convdiff3d helmholtz3d hermitian3d saddle3d random spe10like'
            fi
            ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
    if [[ $files ]]; then
        local names
        mapfile -t names < <(compgen -f -- "$word")
        COMPREPLY+=("${names[@]}")
        compopt -o filenames 2>/dev/null || true # not while completing: in a test
    fi
}

complete -F _espalier espalier

# Completion of the espalier command for bash. tests/docs holds it to the options that the command has.

_espalier() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    local analysis='--factorization --matching --scaling --precision --ordering --threads --topology --calibration
        --schedule --push-init --push --select --strict --seed --alloc --comm-threads --input --split
        --split-width --split-rows --max-memory --trace --json --quiet --verbose --help'
    local options
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W 'solve analyze compare simulate generate trace machine dense --help --version' -- "$word")
        return
    fi
    case $command in
        solve) options="$analysis --operation --mixed-precision --condition --null-space --rhs --nrhs --refine
            --tolerance --output" ;;
        analyze) options="$analysis --processes" ;;
        compare) options="${analysis/--trace /}"
            options="${options/--verbose /} --operation --mixed-precision --rhs --nrhs --refine --tolerance --vary --repeat
            --simulate --processes --csv --picture" ;;
        simulate) options="${analysis/--topology /}"
            options="${options/--comm-threads --input /}"
            options="${options/--max-memory /} --machine --processes" ;;
        generate) options='--output --quiet --help' ;;
        trace) options='--compare --svg --png --html --color --phase --from --to --width --json --quiet --help' ;;
        machine) options='--topology --calibrate --dgemm-order --picture --json --quiet --help' ;;
        dense) options='--kernel --n --tile --threads --schedule --push-init --push --select --strict --seed --alloc
            --topology --repeat --tolerance --trace --json --quiet --help' ;;
        *) return ;;
    esac
    local values= files=
    case $before in
        --factorization) values='auto llh llt ldlt ldlh lu' ;;
        --matching | --scaling | --calibration) values='auto on off' ;;
        --precision) values='s d c z' ;;
        --ordering) values='scotch metis amd natural' files=yes ;;
        --kernel) values='cholesky qr' ;;
        --schedule) values='static dynamic places nas' ;;
        --push-init) values='cyclicnuma randnuma' ;;
        --push) values='pLoc pLocNum pNumaW pNumaWLoc' ;;
        --select) values='sRand sRandNuma sProc sNuma sProcNuma sNumaProc' ;;
        --alloc) values='local global interleave' ;;
        --comm-threads) values='0 1 2' ;;
        --input) values='root distributed' ;;
        --split) values='1d 2d' ;;
        --operation) values='none transpose adjoint' ;;
        --rhs) values='ones random' files=yes ;;
        --refine) values='auto none ir cg gmres bicgstab' ;;
        --vary) values='schedule= alloc= threads= split= push-init= push= select= strict= ordering= factorization=
            split-width= max-block-width= processes=' ;;
        --color) values='kind level' ;;
        --phase) values='factorization solve refinement all' ;;
        --null-space | --topology | --picture | --output | -o | --json | --trace | --compare | --svg | --png | --html | --csv | --simulate | --machine) files=yes ;;
        --from | --to | --width | --n | --tile | --repeat) return ;;
        --threads | --processes | --seed | --split-width | --split-rows | --nrhs | --tolerance | --max-memory | --dgemm-order) return ;;
        *)
            if [[ $word == -* ]]; then
                values=$options
            elif [[ $command == solve || $command == analyze || $command == compare || $command == simulate || $command == trace ]]; then
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

# Completion of the espalier command for fish. tests/docs holds it to the options that the command has.
complete -c espalier -f
complete -c espalier -n __fish_use_subcommand -a solve -d 'analyze, factor, solve, refine, report'
complete -c espalier -n __fish_use_subcommand -a analyze -d 'everything before numbers'
complete -c espalier -n __fish_use_subcommand -a compare -d 'the same work under several settings'
complete -c espalier -n __fish_use_subcommand -a simulate -d 'the factorization on another machine'
complete -c espalier -n __fish_use_subcommand -a generate -d 'write a test matrix'
complete -c espalier -n __fish_use_subcommand -a trace -d 'statistics and pictures of a trace'
complete -c espalier -n __fish_use_subcommand -a machine -d 'topology, memory, BLAS and its speed'
complete -c espalier -n __fish_use_subcommand -a dense -d 'tiled dense Cholesky or QR, to try schedules'
complete -c espalier -n __fish_use_subcommand -l version -d 'print the version'
complete -c espalier -l help -d 'print the help'
complete -c espalier -n 'not __fish_use_subcommand' -l quiet -d 'print nothing but errors'

set -l both '__fish_seen_subcommand_from solve analyze compare simulate'
set -l runs '__fish_seen_subcommand_from solve analyze compare simulate dense'
set -l here '__fish_seen_subcommand_from solve analyze compare'
complete -c espalier -n $both -F
complete -c espalier -n $both -l factorization -x -a 'auto llh llt ldlt ldlh lu'
complete -c espalier -n $both -l matching -x -a 'auto on off'
complete -c espalier -n $both -l scaling -x -a 'auto on off'
complete -c espalier -n $both -l precision -x -a 's d c z'
complete -c espalier -n $both -l ordering -r -a 'scotch metis amd natural'
complete -c espalier -n $runs -l threads -x
complete -c espalier -n $runs -l schedule -x -a 'static dynamic places nas'
complete -c espalier -n $runs -l push-init -x -a 'cyclicnuma randnuma'
complete -c espalier -n $runs -l push -x -a 'pLoc pLocNum pNumaW pNumaWLoc'
complete -c espalier -n $runs -l select -x -a 'sRand sRandNuma sProc sNuma sProcNuma sNumaProc'
complete -c espalier -n $runs -l strict -d 'no stealing across NUMA nodes'
complete -c espalier -n $runs -l seed -x
complete -c espalier -n $both -l split-width -x
complete -c espalier -n $both -l split-rows -x
complete -c espalier -n $runs -l alloc -x -a 'local global interleave'
complete -c espalier -n '__fish_seen_subcommand_from solve analyze compare dense' -l topology -r -d 'plan for another machine'
complete -c espalier -n $both -l calibration -x -a 'auto on off' -d 'of the cost model'
complete -c espalier -n '__fish_seen_subcommand_from solve analyze simulate dense' -l trace -r -d 'Paje trace'
complete -c espalier -n '__fish_seen_subcommand_from analyze compare simulate' -l processes -x -d 'predict for so many'
complete -c espalier -n $here -l comm-threads -x -a '0 1 2'
complete -c espalier -n $here -l input -x -a 'root distributed'
complete -c espalier -n $both -l split -x -a '1d 2d'
complete -c espalier -n $here -l max-memory -x
complete -c espalier -n '__fish_seen_subcommand_from solve analyze simulate' -l verbose -d 'print also settings, machine and choices'
complete -c espalier -n '__fish_seen_subcommand_from solve analyze compare simulate trace machine dense' -l json -r -d 'the report'

set -l solve '__fish_seen_subcommand_from solve'
set -l system '__fish_seen_subcommand_from solve compare'
complete -c espalier -n $system -l operation -x -a 'none transpose adjoint'
complete -c espalier -n $system -l mixed-precision -d 'factorize in single precision'
complete -c espalier -n $solve -l condition -d 'estimate the condition number'
complete -c espalier -n $solve -l null-space -r -d 'a basis of the null space'
complete -c espalier -n $system -l rhs -r -a 'ones random'
complete -c espalier -n $system -l nrhs -x
complete -c espalier -n $system -l refine -x -a 'auto none ir cg gmres bicgstab'
complete -c espalier -n $system -l tolerance -x
complete -c espalier -n '__fish_seen_subcommand_from solve generate' -l output -r -d 'the solution, or the matrix'
complete -c espalier -n '__fish_seen_subcommand_from generate' -s o -r

set -l compare '__fish_seen_subcommand_from compare'
complete -c espalier -n $compare -l vary -x -a 'schedule= alloc= threads= split= push= select= ordering= factorization= processes='
complete -c espalier -n $compare -l repeat -x -d 'runs of each combination'
complete -c espalier -n $compare -l simulate -r -d 'on another machine: a file or a description'
complete -c espalier -n $compare -l csv -r -d 'the table'
complete -c espalier -n $compare -l picture -r -d 'bars as .svg or .png'

complete -c espalier -n '__fish_seen_subcommand_from simulate' -l machine -r -d 'a file or a description'

set -l trace '__fish_seen_subcommand_from trace'
complete -c espalier -n $trace -F
complete -c espalier -n $trace -l compare -r -d 'with a prediction'
complete -c espalier -n $trace -l svg -r
complete -c espalier -n $trace -l png -r
complete -c espalier -n $trace -l html -r
complete -c espalier -n $trace -l color -x -a 'kind level'
complete -c espalier -n $trace -l phase -x -a 'factorization solve refinement all'
complete -c espalier -n $trace -l from -x
complete -c espalier -n $trace -l to -x
complete -c espalier -n $trace -l width -x
set -l machine '__fish_seen_subcommand_from machine'
complete -c espalier -n $machine -l topology -r -d 'another machine: .xml or a description'
complete -c espalier -n $machine -l calibrate -d 'measure the cost model'
complete -c espalier -n $machine -l dgemm-order -x
complete -c espalier -n $machine -l picture -r -d 'NUMA factors as .svg or .png'

set -l dense '__fish_seen_subcommand_from dense'
complete -c espalier -n $dense -l kernel -x -a 'cholesky qr'
complete -c espalier -n $dense -l n -x -d 'order of the matrix'
complete -c espalier -n $dense -l tile -x -d 'order of its tiles'
complete -c espalier -n $dense -l repeat -x -d 'factorizations'
complete -c espalier -n $dense -l tolerance -x

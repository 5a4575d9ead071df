# Sourced by the scripts beside it: prints the comment at the head of the script where its first word is -h or --help, and ends it.
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit 0 ;; esac

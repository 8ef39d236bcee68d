#!/usr/bin/env bash
# Builds the environment of the transition parser (Python 3.8, torch 1.13.1).
#
#   build_environment.sh [FOLDER]          default: .venv-transition
#
#   PYTHON38=path     a Python 3.8, if python3.8 is not on the PATH (pyenv install 3.8)
#   SCATTER=stand-in  the one function of torch-scatter that is needed, in plain torch
#   SCATTER=source    compile torch-scatter itself (half an hour; for GPUs it needs the
#                     CUDA 11.7 compiler, else set FORCE_ONLY_CPU=1)
#
# Afterwards: amr_parsing.transition.python = FOLDER/bin/python (conf/local/parameters).
# The weights (1.3 GB, and BART-large) are downloaded by the first run.
set -euo pipefail

folder=${1:-.venv-transition}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scatter=${SCATTER:-stand-in}
python=${PYTHON38:-python3.8}

if ! "$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 8))' 2>/dev/null; then
    echo "Expected Python 3.8 as '$python' (its fairseq has no other wheels); install one," >&2
    echo "e.g. with pyenv, and set PYTHON38=path/to/python3.8" >&2
    exit 1
fi
case $scatter in
    stand-in | source) ;;
    *) echo "Expected SCATTER=stand-in or SCATTER=source (got '$scatter')" >&2; exit 1 ;;
esac

"$python" -m venv "$folder"
pip=("$folder/bin/python" -m pip install --quiet --disable-pip-version-check)
"${pip[@]}" --upgrade pip wheel "setuptools<70"
"${pip[@]}" torch==1.13.1
"${pip[@]}" transition-neural-parser==0.5.4
if [ "$scatter" = source ]; then
    "${pip[@]}" torch-scatter==2.1.2 --no-build-isolation
else
    site=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    cp "$here/scatter.py" "$site/torch_scatter.py"
fi

"$folder/bin/python" "$here/check_environment.py"
echo "The environment works (weights aside): $folder/bin/python"

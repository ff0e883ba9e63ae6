#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the folder of the CUDA toolkit, for the build and for ./dev: CUDA_HOME, else CUDA_PATH,
# else the folder of the nvcc on the PATH, else /usr/local/cuda. The caller must check that the
# folder exists.
set -eu

# A toolkit's nvcc has headers beside it, a wrapper has none. A link leads to its own toolkit.
toolkit_on_path() {
    found=$(command -v nvcc) || return 1
    for nvcc in "$found" "$(readlink -f -- "$found")"; do
        toolkit=${nvcc%/*/*}
        [ -e "$toolkit/include/cuda_runtime_api.h" ] && printf %s "$toolkit" && return
    done
    return 1
}

absolute() {
    if [ -d "$1" ]; then (cd -- "$1" && pwd); else printf %s "$1"; fi
}

named=${CUDA_HOME:-${CUDA_PATH:-}}
if [ -n "$named" ]; then
    absolute "$named"
else
    toolkit_on_path || printf %s /usr/local/cuda
fi

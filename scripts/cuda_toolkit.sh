#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the folder of the CUDA toolkit: the one rule of the build and of ./dev. It is that of CUDA_HOME, else of
# CUDA_PATH, else that of the nvcc on the PATH, else /usr/local/cuda. Whether anything is there is for the caller to see.
set -eu

# Headers tell a toolkit's nvcc from a wrapper of it; a link leads to its own.
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

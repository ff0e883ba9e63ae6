# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev test --gpu: tests that need a machine with a GPU, with the figures of docs/how-to/gpu.md.

# The driver's devices, or Windows' own below WSL.
has_gpu() {
    compgen -G '/dev/nvidia[0-9]*' >/dev/null || [[ -e /dev/dxg ]]
}

require_gpu() {
    has_gpu || fail "test --gpu: this machine has no NVIDIA GPU (no /dev/nvidia0): run it on one that has"
    require_nvcc
}

# Requires the nvcc of the same toolkit that the build uses.
require_nvcc() {
    local nvcc
    nvcc=$(scripts/cuda_toolkit.sh)/bin/nvcc
    has_tool "$nvcc" || fail "test --gpu: there is no $nvcc: install the CUDA toolkit, or name its folder in CUDA_HOME"
}

# gpu_suite FOLDER: its last line is "N passed, N failed".
gpu_suite() {
    local program=$1/examples/cuda_pipeline/cuda_pipeline passed=0 failed=0 mode
    # A folder that was configured before the toolkit was installed lacks its targets.
    ninja -C "$1" -t query examples/cuda_pipeline/cuda_pipeline >/dev/null 2>&1 || meson setup --reconfigure "$1" >&2
    ninja -C "$1" examples/cuda_pipeline/cuda_pipeline >&2
    sed -n 1p /proc/driver/nvidia/version 2>/dev/null || true
    "$(scripts/cuda_toolkit.sh)/bin/nvcc" --version | sed -n '/release/p'
    for mode in '--launches 100000' '--overhead 5'; do
        printf '\n$ cuda_pipeline %s\n' "$mode"
        # shellcheck disable=SC2086  # an option and its value
        if "$program" $mode; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
        fi
    done
    printf '\n%d passed, %d failed\n' "$passed" "$failed"
    [[ $failed -eq 0 ]]
}

# SPDX-License-Identifier: Apache-2.0
# An overlay port that builds the tree in which it lies.
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)
set(VCPKG_BUILD_TYPE release)  # the package for CMake names one build of each library

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
  FEATURES
    analysis COROSCOPE_ANALYSIS
    tools COROSCOPE_TOOLS)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${FEATURE_OPTIONS}
    -DCOROSCOPE_INSTALL=ON
    -DCOROSCOPE_MEMORY_HOOK=ON
    -DCOROSCOPE_SYMBOLS=OFF
    -DCOROSCOPE_CMAKE_FOLDER=share/coroscope)
vcpkg_cmake_install()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES coroscope AUTO_CLEAN)
endif()
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")

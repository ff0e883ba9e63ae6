# SPDX-License-Identifier: Apache-2.0
# Functions that define the libraries as Meson does, and find the libraries of others.
include(CheckCXXCompilerFlag)
include(CheckIncludeFileCXX)
find_package(Threads REQUIRED)

set(coroscope_installed)  # the targets that COROSCOPE_INSTALL installs

# coroscope_settings(TARGET): the settings of everything that is compiled here.
function(coroscope_settings target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_definitions(${target} PRIVATE _FILE_OFFSET_BITS=64)
  # g++ says so itself, and so does clang from 22 on.
  foreach(name address thread)
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND CMAKE_CXX_FLAGS MATCHES "-fsanitize=[a-z,]*${name}")
      string(TOUPPER ${name} name)
      target_compile_definitions(${target} PRIVATE __SANITIZE_${name}__=1)
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN OFF
    POSITION_INDEPENDENT_CODE ON
    UNITY_BUILD OFF
    INSTALL_RPATH "$ORIGIN")
endfunction()

# coroscope_join(TARGET): compiles up to 22 sources of the target at once. Where a source has a UNITY_GROUP, it is joined
# with the sources of this group.
function(coroscope_join target)
  if(COROSCOPE_JOINED)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE BATCH UNITY_BUILD_BATCH_SIZE 22)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)  # an included file's unnamed namespaces
    endif()
  endif()
endfunction()

# coroscope_library(TARGET NAME SOURCE…): defines lib<NAME> and the alias coroscope::<TARGET without coroscope_>.
function(coroscope_library target name)
  add_library(${target} ${ARGN})
  string(REGEX REPLACE "^coroscope_" "" alias ${target})
  add_library(coroscope::${alias} ALIAS ${target})
  coroscope_settings(${target})
  target_include_directories(${target} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name} VERSION ${PROJECT_VERSION} SOVERSION ${coroscope_abi})
endfunction()

# coroscope_export_ours(TARGET OPTION…): a shared library exports our names only, and is linked with these options.
function(coroscope_export_ours target)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "SHARED_LIBRARY")
    set(map "${PROJECT_SOURCE_DIR}/lib/exports.map")
    target_link_options(${target} PRIVATE "LINKER:--version-script=${map}" ${ARGN})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${map}")
  endif()
endfunction()

# coroscope_search(NAME HEADER LIBRARY): defines the target coroscope_NAME of a library of others, if it is found. LIBRARY is
# empty if there are headers only.
function(coroscope_search name header library)
  find_path(COROSCOPE_${name}_INCLUDE NAMES ${header} HINTS ${ARGN})
  if(library)
    find_library(COROSCOPE_${name}_LIBRARY NAMES ${library})
  endif()
  if(COROSCOPE_${name}_INCLUDE AND (NOT library OR COROSCOPE_${name}_LIBRARY))
    add_library(coroscope_${name} INTERFACE)
    target_include_directories(coroscope_${name} SYSTEM INTERFACE "${COROSCOPE_${name}_INCLUDE}")
    if(library)
      target_link_libraries(coroscope_${name} INTERFACE "${COROSCOPE_${name}_LIBRARY}")
    endif()
  endif()
endfunction()

# coroscope_find(NAME HEADER LIBRARY PACKAGE WISH): the same for a library that WISH needs. If it is missing, CMake ends with
# one line.
function(coroscope_find name header library package wish)
  coroscope_search(${name} "${header}" "${library}" ${ARGN})
  if(NOT TARGET coroscope_${name})
    message(FATAL_ERROR "coroscope: no ${name} (${header}), which ${wish} needs; install it (in Debian: ${package}), or set"
      " CMAKE_PREFIX_PATH to its prefix")
  endif()
endfunction()

# coroscope_say(TARGET NAME TARGET_OF_OTHERS): defines COROSCOPE_HAS_NAME as 1 and links the target, or defines it as 0.
function(coroscope_say target name other)
  if(TARGET ${other})
    target_compile_definitions(${target} PRIVATE COROSCOPE_HAS_${name}=1)
    target_link_libraries(${target} PRIVATE ${other})
  else()
    target_compile_definitions(${target} PRIVATE COROSCOPE_HAS_${name}=0)
  endif()
endfunction()

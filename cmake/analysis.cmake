# SPDX-License-Identifier: Apache-2.0
# The libraries that read traces. lib/trace/meson.build and lib/analysis/meson.build have the same in Meson.
coroscope_find(zstd zstd.h zstd libzstd-dev COROSCOPE_ANALYSIS)
coroscope_find(xxhash_library xxhash.h xxhash libxxhash-dev COROSCOPE_ANALYSIS)
coroscope_find(protozero protozero/pbf_builder.hpp "" libprotozero-dev COROSCOPE_ANALYSIS)
coroscope_find(sqlite3 sqlite3.h sqlite3 libsqlite3-dev COROSCOPE_ANALYSIS)
coroscope_find(zlib zlib.h "z;zlib" zlib1g-dev COROSCOPE_ANALYSIS)

# coroscope_find_package(NAME HEADER): the library's own package for CMake names the definitions that it needs.
function(coroscope_find_package name header)
  find_package(${name} CONFIG QUIET GLOBAL)
  if(TARGET ${name}::${name})
    add_library(coroscope_${name} INTERFACE)
    target_link_libraries(coroscope_${name} INTERFACE ${name}::${name})
  else()
    coroscope_find(${name} ${header} ${name} lib${name}-dev COROSCOPE_ANALYSIS)
  endif()
endfunction()
coroscope_find_package(fmt fmt/core.h)
coroscope_find_package(simdjson simdjson.h)

coroscope_read_sources(sources "${PROJECT_SOURCE_DIR}/lib/trace")
coroscope_library(coroscope_trace coroscope-trace ${sources})
coroscope_join(coroscope_trace)
target_link_libraries(coroscope_trace PRIVATE coroscope_zstd coroscope_xxhash_library Threads::Threads)
coroscope_export_ours(coroscope_trace)

# Without libdw, which reads debug information, addresses of code get no names.
if(COROSCOPE_SYMBOLS)
  coroscope_search(libdw elfutils/libdwfl.h dw)
endif()
set(left_out dwarf_files_libdw)
if(TARGET coroscope_libdw)
  set(left_out dwarf_files_without_libdw)
endif()
coroscope_read_sources(sources "${PROJECT_SOURCE_DIR}/lib/analysis")
list(FILTER sources EXCLUDE REGEX "/(${left_out}|page_frame)\\.cpp$")

# The page of a report is one text: the build joins its markup, its style and its modules.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
set(assets "${PROJECT_SOURCE_DIR}/lib/analysis/page/assets")
add_custom_command(OUTPUT "${PROJECT_BINARY_DIR}/page_frame.cpp"
  COMMAND Python3::Interpreter "${assets}/join.py" "${assets}" "${PROJECT_VERSION}" "${PROJECT_BINARY_DIR}/page_frame.cpp"
    "${PROJECT_BINARY_DIR}/page_frame.d"
  DEPENDS "${assets}/join.py" DEPFILE "${PROJECT_BINARY_DIR}/page_frame.d" VERBATIM)
list(APPEND sources "${PROJECT_BINARY_DIR}/page_frame.cpp")
coroscope_library(coroscope_analysis coroscope-analysis ${sources})
coroscope_join(coroscope_analysis)
target_include_directories(coroscope_analysis PRIVATE "${PROJECT_SOURCE_DIR}/lib/analysis")  # for page_frame.cpp
target_link_libraries(coroscope_analysis PUBLIC coroscope_trace PRIVATE coroscope_fmt coroscope_protozero coroscope_simdjson
  coroscope_sqlite3 coroscope_xxhash_library coroscope_zlib)
if(TARGET coroscope_libdw)
  target_link_libraries(coroscope_analysis PRIVATE coroscope_libdw)
endif()
coroscope_export_ours(coroscope_analysis)
list(APPEND coroscope_installed coroscope_trace coroscope_analysis)

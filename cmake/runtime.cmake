# SPDX-License-Identifier: Apache-2.0
# The runtime, its integrations, and the libraries beside it. lib/runtime/meson.build has the same in Meson.
coroscope_find(xxhash xxhash.h "" libxxhash-dev "the runtime")

# The queue of free chunks: installed, unpacked by Meson's wrap, or downloaded as the wrap describes it.
set(wrap "${PROJECT_SOURCE_DIR}/subprojects/concurrentqueue.wrap")
coroscope_read_value(folder "${wrap}" "\ndirectory = ([^\n]+)")
coroscope_search(concurrentqueue
  "concurrentqueue/concurrentqueue.h;concurrentqueue/moodycamel/concurrentqueue.h;concurrentqueue.h" ""
  "${PROJECT_SOURCE_DIR}/subprojects/${folder}")
if(NOT TARGET coroscope_concurrentqueue)
  coroscope_read_value(url "${wrap}" "\nsource_url = ([^\n]+)")
  coroscope_read_value(hash "${wrap}" "\nsource_hash = ([^\n]+)")
  include(FetchContent)
  FetchContent_Declare(concurrentqueue URL "${url}" URL_HASH SHA256=${hash} SOURCE_SUBDIR not-built)
  FetchContent_MakeAvailable(concurrentqueue)
  coroscope_find(concurrentqueue concurrentqueue.h "" libconcurrentqueue-dev "the runtime" "${concurrentqueue_SOURCE_DIR}")
endif()

# CUDA's headers, from which nothing is linked. NVTX's headers are part of the toolkit, or a package of their own.
execute_process(COMMAND "${PROJECT_SOURCE_DIR}/scripts/cuda_toolkit.sh"
  OUTPUT_VARIABLE coroscope_cuda_toolkit OUTPUT_STRIP_TRAILING_WHITESPACE)
coroscope_search(nvtx nvtx3/nvToolsExt.h "" "${coroscope_cuda_toolkit}/include")
coroscope_search(usdt sys/sdt.h "")
coroscope_search(itt ittnotify.h ittnotify)

# The sources of each room are joined. Those of the integrations are one group, too.
set(coroscope_sources)
foreach(room base calls store writer carried kernel observers devices tasks scopes sessions process .)
  coroscope_read_sources(sources "${PROJECT_SOURCE_DIR}/lib/runtime/${room}")
  set_property(SOURCE ${sources} PROPERTY UNITY_GROUP "coroscope-${room}")
  list(APPEND coroscope_sources ${sources})
endforeach()

coroscope_library(coroscope coroscope ${coroscope_sources})
coroscope_join(coroscope)
set_target_properties(coroscope PROPERTIES UNITY_BUILD_MODE GROUP)
coroscope_say(coroscope ITT coroscope_itt)
coroscope_say(coroscope NVTX coroscope_nvtx)
coroscope_say(coroscope USDT coroscope_usdt)
# No vectorisation: a vector load of words that were just stored one by one must wait for these stores.
check_cxx_compiler_flag(-fno-tree-slp-vectorize COROSCOPE_HAS_NO_SLP)
if(COROSCOPE_HAS_NO_SLP)
  target_compile_options(coroscope PRIVATE -fno-tree-slp-vectorize)
endif()
target_link_libraries(coroscope PRIVATE coroscope_xxhash coroscope_concurrentqueue Threads::Threads ${CMAKE_DL_LIBS})
coroscope_export_ours(coroscope LINKER:-z,nodelete)  # it stays loaded: threads and the process call it at their end
list(APPEND coroscope_installed coroscope)

# Handler tracking must be on in every translation unit of a target. Otherwise types differ between units.
add_library(coroscope_asio INTERFACE)
add_library(coroscope::asio ALIAS coroscope_asio)
target_link_libraries(coroscope_asio INTERFACE coroscope)
target_compile_definitions(coroscope_asio INTERFACE
  "BOOST_ASIO_CUSTOM_HANDLER_TRACKING=<coroscope/integration/asio.hpp>"
  "ASIO_CUSTOM_HANDLER_TRACKING=<coroscope/integration/asio.hpp>")

# An older clang keeps the address of a thread-local across a call (docs/decisions/0008-fibers.md).
add_library(coroscope_fibers INTERFACE)
add_library(coroscope::fibers ALIAS coroscope_fibers)
target_link_libraries(coroscope_fibers INTERFACE coroscope)
target_compile_definitions(coroscope_fibers INTERFACE
  "$<$<AND:$<CXX_COMPILER_ID:Clang>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,19>>:COROSCOPE_FIBERS=1>")

# It must be linked before the standard library, whose operators it replaces, even if no other symbol of it is used.
coroscope_read_sources(sources "${PROJECT_SOURCE_DIR}/lib/memory_hook")
coroscope_library(coroscope_memory_hook coroscope-memory-hook ${sources})
target_link_libraries(coroscope_memory_hook PUBLIC coroscope)
coroscope_export_ours(coroscope_memory_hook)
if(COROSCOPE_MEMORY_HOOK)
  list(APPEND coroscope_installed coroscope_memory_hook)
else()
  set_target_properties(coroscope_memory_hook PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

if(COROSCOPE_CUDA)
  coroscope_search(cupti cupti.h "" "${coroscope_cuda_toolkit}/include")
  if(NOT TARGET coroscope_cupti)
    message(FATAL_ERROR "coroscope: no cupti.h below ${coroscope_cuda_toolkit}, which COROSCOPE_CUDA needs; set CUDA_HOME"
      " to the CUDA toolkit")
  endif()
  coroscope_read_sources(sources "${PROJECT_SOURCE_DIR}/lib/cuda")
  coroscope_library(coroscope_cuda coroscope-cuda ${sources})
  target_compile_definitions(coroscope_cuda PRIVATE "COROSCOPE_CUDA_TOOLKIT=\"${coroscope_cuda_toolkit}\"")
  target_link_libraries(coroscope_cuda PUBLIC coroscope PRIVATE coroscope_cupti Threads::Threads ${CMAKE_DL_LIBS})
  coroscope_export_ours(coroscope_cuda LINKER:-z,nodelete)  # CUPTI calls back into it
  list(APPEND coroscope_installed coroscope_cuda)
endif()

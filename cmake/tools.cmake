# SPDX-License-Identifier: Apache-2.0
# The coroscope command with its man page and completions, and the library that `coroscope run --record blocking,locks`
# preloads. tools/meson.build and lib/interpose/meson.build have the same in Meson.
coroscope_find(CLI11 CLI/CLI.hpp "" libcli11-dev COROSCOPE_TOOLS)

# It is built without sanitizers, because it is loaded before a sanitizer's library, and into programs without one. It
# throws nothing, but it has exceptions on, because cancellation unwinds through its functions.
coroscope_read_sources(sources "${PROJECT_SOURCE_DIR}/lib/interpose")
add_library(coroscope_interpose SHARED ${sources})
coroscope_settings(coroscope_interpose)
target_include_directories(coroscope_interpose PRIVATE "${PROJECT_SOURCE_DIR}/include")
target_compile_options(coroscope_interpose PRIVATE -fexceptions -U_FORTIFY_SOURCE -fno-sanitize=all)
target_link_libraries(coroscope_interpose PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(coroscope_interpose PROPERTIES
  OUTPUT_NAME coroscope-interpose VERSION ${PROJECT_VERSION} SOVERSION ${coroscope_abi})
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i[3-6]86)$")
  set(map "${PROJECT_SOURCE_DIR}/lib/interpose/conditions.map")
  target_link_options(coroscope_interpose PRIVATE "LINKER:--version-script=${map}" -fno-sanitize=all)
  set_property(TARGET coroscope_interpose APPEND PROPERTY LINK_DEPENDS "${map}")
endif()

# The command finds the libraries by its own place, also in a prefix that the loader does not know or that moves.
file(RELATIVE_PATH to_libraries "/p/${CMAKE_INSTALL_BINDIR}" "/p/${CMAKE_INSTALL_LIBDIR}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_BINDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(tools_rpath "${CMAKE_INSTALL_FULL_LIBDIR}")
else()
  set(tools_rpath "$ORIGIN/${to_libraries}")
endif()
coroscope_read_sources(sources "${PROJECT_SOURCE_DIR}/tools")
add_executable(coroscope_command ${sources})
add_executable(coroscope::command ALIAS coroscope_command)
coroscope_settings(coroscope_command)
coroscope_join(coroscope_command)
target_compile_definitions(coroscope_command PRIVATE
  "COROSCOPE_CUDA_TOOLKIT=\"${coroscope_cuda_toolkit}\""
  "COROSCOPE_VERSION=\"${PROJECT_VERSION}\""
  "COROSCOPE_LIBRARIES=\"${tools_rpath}\""
  "COROSCOPE_INTERPOSE_NAME=\"libcoroscope-interpose.so.${coroscope_abi}\"")
coroscope_say(coroscope_command LIBDW coroscope_libdw)
target_link_libraries(coroscope_command PRIVATE
  coroscope_analysis coroscope_CLI11 coroscope_fmt Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(coroscope_command PROPERTIES OUTPUT_NAME coroscope INSTALL_RPATH "${tools_rpath}")
add_dependencies(coroscope_command coroscope_interpose)

# coroscope_write(FILE ARGUMENT…): a file that the command writes about itself.
set(coroscope_written)
function(coroscope_write file)
  set(path "${PROJECT_BINARY_DIR}/${file}")
  add_custom_command(OUTPUT "${path}" COMMAND coroscope_command ${ARGN} > "${path}" DEPENDS coroscope_command VERBATIM)
  set(coroscope_written ${coroscope_written} "${path}" PARENT_SCOPE)
endfunction()
if(NOT CMAKE_CROSSCOMPILING)
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/completions")
  coroscope_write(completions/coroscope completion bash)
  coroscope_write(completions/_coroscope completion zsh)
  coroscope_write(completions/coroscope.fish completion fish)
  coroscope_write(coroscope.1 manual)
  add_custom_target(coroscope_written ALL DEPENDS ${coroscope_written})
endif()

# SPDX-License-Identifier: Apache-2.0
# Reads the version and the lists of sources from the Meson files, so that there is one list of each. CMake configures
# anew if one of these files changes.

# coroscope_read_meson(RESULT FILE): the text of a Meson file without its comments.
function(coroscope_read_meson result file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" text)
  string(REGEX REPLACE "(^|\n) *#[^\n]*" "\\1" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# coroscope_read_value(RESULT FILE PATTERN): the part of a Meson file that the pattern's group matches.
function(coroscope_read_value result file pattern)
  coroscope_read_meson(text "${file}")
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "coroscope: ${file} has no text like \"${pattern}\"; correct the file or the pattern")
  endif()
  set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

# coroscope_read_sources(RESULT FOLDER): the full paths of the sources that FOLDER/meson.build names.
function(coroscope_read_sources result folder)
  coroscope_read_meson(text "${folder}/meson.build")
  string(REGEX MATCHALL "'[^'\n]+\\.cpp'" names "${text}")
  set(sources)
  foreach(name IN LISTS names)
    string(REPLACE "'" "" name "${name}")
    get_filename_component(name "${name}" ABSOLUTE BASE_DIR "${folder}")
    list(APPEND sources "${name}")
  endforeach()
  list(REMOVE_DUPLICATES sources)
  set(${result} "${sources}" PARENT_SCOPE)
endfunction()

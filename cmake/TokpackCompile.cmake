# Warnings and sanitizers, as one private interface target that every tokpack target links.
# Linked as $<BUILD_INTERFACE:tokpack_compile>, so that it never enters an export set.
add_library(tokpack_compile INTERFACE)
target_compile_options(tokpack_compile INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow;-Wconversion;-Wsign-conversion;-Wcast-align;-Wold-style-cast;-Wundef>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${TOKPACK_WERROR}>>:-Werror>)
# GCC 12 sees overlaps that cannot be in std::string (bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tokpack_compile INTERFACE -Wno-restrict)
endif()

if(TOKPACK_SANITIZE)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TOKPACK_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer>")
  add_link_options("-fsanitize=${TOKPACK_SANITIZE}")
endif()
if(TOKPACK_BUILD_FUZZ)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>")
endif()

# tokpack_room(NAME [NOT_INSTALLED] SOURCES ... PUBLIC ... PRIVATE ...): one room of the house, a library
# `tokpack_<name>` with the alias `tokpack::<name>`, its own include root and every source under its src folder
# that is named.
function(tokpack_room name)
  cmake_parse_arguments(ROOM "NOT_INSTALLED" "" "SOURCES;PUBLIC;PRIVATE;PRECOMPILE" ${ARGN})
  add_library(tokpack_${name} STATIC ${ROOM_SOURCES})
  add_library(tokpack::${name} ALIAS tokpack_${name})
  # Never merged into one source for speed: files of a room may use one name for two local things.
  set_target_properties(tokpack_${name} PROPERTIES EXPORT_NAME ${name} UNITY_BUILD OFF)
  target_compile_features(tokpack_${name} PUBLIC cxx_std_20)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/include/*.h")
  target_sources(tokpack_${name} PUBLIC FILE_SET HEADERS
    BASE_DIRS "${CMAKE_CURRENT_SOURCE_DIR}/include" FILES ${headers})
  target_include_directories(tokpack_${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/src")
  target_link_libraries(tokpack_${name} PUBLIC ${ROOM_PUBLIC} PRIVATE ${ROOM_PRIVATE}
    $<BUILD_INTERFACE:tokpack_compile>)
  if(TOKPACK_PRECOMPILE)
    target_precompile_headers(tokpack_${name} PRIVATE <algorithm> <array> <cstring> <functional> <limits> <map>
      <memory> <optional> <span> <string> <utility> <variant> <vector> ${ROOM_PRECOMPILE})
  endif()
  if(ROOM_NOT_INSTALLED)
    return()
  endif()
  install(TARGETS tokpack_${name} EXPORT tokpackTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endfunction()

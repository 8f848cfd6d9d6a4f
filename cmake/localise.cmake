# Makes one object of a Rust static archive, in which only `dram_*` is global.
#
#   cmake -DARCHIVE=in.a -DOUT=out.a -DLD=ld -DOBJCOPY=objcopy -DAR=ar -P localise.cmake
#
# rustc's archive holds the standard library with all its names global, and bitcode for rustc itself.
# Two such archives in one program define the same names twice, and link-time optimisation of
# another compiler trips over the bitcode. In one object names that C does not call can be local.
# Groups are resolved first: a group that stays a group is merged with that of the same name in
# another archive, whose symbols are not those of this one. Bitcode and what else LLVM notes for
# itself goes; so does debug information, which is the standard library's only and half of the bytes.

cmake_minimum_required(VERSION 3.22)

get_filename_component(folder "${OUT}" DIRECTORY)
set(object "${folder}/dramalloc.o")
set(localised "${folder}/dramalloc_localised.o")

function(must)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(MAKE_DIRECTORY "${folder}")
file(REMOVE "${OUT}")
must("${LD}" -r --force-group-allocation --whole-archive "${ARCHIVE}" -o "${object}")
must("${OBJCOPY}" --wildcard "--keep-global-symbol=dram_*" --strip-debug
  "--remove-section=.llvm*" "${object}" "${localised}")
file(RENAME "${localised}" "${object}")
must("${AR}" rcsD "${OUT}" "${object}")
file(REMOVE "${object}")

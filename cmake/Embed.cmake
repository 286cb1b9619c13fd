# Embed.cmake - turn text files into C strings, so that the program needs no
# file at run time.  HEADER declares them.  Indentation is left out unless
# KEEP_INDENT is set.
#
#   cmake -DOUT=assets.c -DHEADER=html/assets.h -DFILES=style=a.css,script=b.js -P Embed.cmake
set(text "#include \"${HEADER}\"\n\n")
string(REPLACE "," ";" FILES "${FILES}")
foreach(pair IN LISTS FILES)
  string(REGEX MATCH "^([^=]+)=(.*)$" unused "${pair}")
  set(name "${CMAKE_MATCH_1}")
  file(READ "${CMAKE_MATCH_2}" bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  if(NOT KEEP_INDENT)
    string(REGEX REPLACE "0x0a,(0x20,)+" "0x0a," bytes "${bytes}")
  endif()
  string(APPEND text "const char ${name}[] = {${bytes}0};\n")
endforeach()
file(WRITE "${OUT}" "${text}")

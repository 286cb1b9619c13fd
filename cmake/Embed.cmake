# Embed.cmake - turn text files into C strings, so that the program needs no
# file at run time.  Indentation is left out.
#
#   cmake -DOUT=assets.c -DFILES=asset_style=a.css,asset_script=b.js -P Embed.cmake
set(text "#include \"analyzer/html/assets.h\"\n\n")
string(REPLACE "," ";" FILES "${FILES}")
foreach(pair IN LISTS FILES)
  string(REGEX MATCH "^([^=]+)=(.*)$" unused "${pair}")
  set(name "${CMAKE_MATCH_1}")
  file(READ "${CMAKE_MATCH_2}" bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "0x0a,(0x20,)+" "0x0a," bytes "${bytes}")
  string(APPEND text "const char ${name}[] = {${bytes}0};\n")
endforeach()
file(WRITE "${OUT}" "${text}")

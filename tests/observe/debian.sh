#!/bin/sh
# Runs programs of Debian's source packages under hornbill_observe, and checks what they did against points-to sets:
#
#     tests/observe/debian.sh BUILD FOLDER [lua5.4] [bc] [gzip]
#
# BUILD is a build of Hornbill with tests. Sources are fetched into FOLDER by `apt-get source`, which needs a `deb-src`
# line in apt's list of sources. CLANG_VERSION says which clang and LLVM of Debian's packages compile them (14). bc and
# gzip run their own tests; Debian's Lua has none, so it runs exercise.lua beside this file.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)/tests/observe
mkdir -p "$2"
folder=$(cd "$2" && pwd)
shift 2
version=${CLANG_VERSION:-14}
export CC="clang-$version" AR="llvm-ar-$version" RANLIB="llvm-ranlib-$version"
export CFLAGS="-g -O1 -Xclang -disable-llvm-passes -flto" LDFLAGS="-fuse-ld=lld -Wl,--save-temps"

# The linker keeps the whole program as it was before optimisation. The instrumented one takes the program's place.
observe() { # NAME, the program, further libraries
  "$build/hornbill_observe" instrument "$2.0.0.preopt.bc" -o "$folder/$1.bc" --constraints "$folder/$1.h5"
  name=$1 program=$2
  shift 2
  $CC -O0 "$folder/$name.bc" "$build/libhornbill_recorder.a" "$@" -rdynamic -lstdc++ -lm -ldl -o "$program"
  export HORNBILL_OBSERVATIONS="$folder/$name.seen"
  rm -f "$HORNBILL_OBSERVATIONS"
}

for package in "${@:-lua5.4 bc gzip}"; do for name in $package; do
  cd "$folder"
  ls "$name"_*.orig.tar.* >/dev/null 2>&1 || apt-get source --download-only "$name" >"$name.log" 2>&1
  mkdir -p "$name"
  tar xf "$(ls "$name"_*.orig.tar.*z | head -1)" -C "$name" --strip-components=1
  cd "$name"
  case $name in
  lua5.4)
    make -C src lua CC="$CC" AR="$AR rcu" RANLIB="$RANLIB" MYCFLAGS="$CFLAGS -DLUA_USE_POSIX -DLUA_USE_DLOPEN" MYLDFLAGS="$LDFLAGS -rdynamic" MYLIBS=-ldl >../"$name.log" 2>&1
    observe "$name" "$PWD/src/lua"
    src/lua "$here/exercise.lua" >../"$name.out" ;;
  bc)
    ./configure >../"$name.log" 2>&1 && make MAKEINFO=true >>../"$name.log" 2>&1
    observe "$name" "$PWD/bc/bc"
    for test in Test/*.b; do
      case $test in */checklib.b | */mul.b) continue ;; esac # which take hours
      echo quit | bc/bc -l "$test" >>../"$name.out"
    done ;;
  gzip)
    ./configure >../"$name.log" 2>&1 && make MAKEINFO=true >>../"$name.log" 2>&1
    observe "$name" "$PWD/gzip"
    make check TESTS="$(cd tests && ls | grep -vE '^(list-big|Makefile.*|init.*|gzip-env|.*\.(gz|log|trs))$' | tr '\n' ' ')" >../"$name.out" 2>&1 || true ;;
  esac
  printf '%s: ' "$name"
  "$build/hornbill_observe" check "$folder/$name.h5" "$folder/$name.seen"
done; done

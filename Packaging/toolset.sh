#!/bin/bash
# Builds the modules that `ble toolset` adds to a Swift toolchain.
#
#   Packaging/toolset.sh [--configuration debug|release] [--scratch-path FOLDER] [FOLDER]
#
#   FOLDER           the output folder (default: .build/toolset)
#   --configuration  the build configuration (default: release)
#   --scratch-path   the build folder of the package (default: .build)
#
# The result is one library, libCoreBluetooth.so, and the modules CoreBluetooth, BLESimulation and CoreBluetoothExtras.
# The three are compiled once more, with library evolution, so that programs see nothing but their public interface; the
# objects of everything below them are those of the package's build. The library exports the symbols of the three
# modules and no others: a program can have swift-log or swift-crypto of any version beside it.
#
# The folder “compat” in it is for `ble toolset --compat`: modules that stand in for modules of Apple's systems, from
# Packaging/Compatibility and OpenCombine, and their library, libCoreBluetoothCompat.so.
set -euo pipefail
cd "$(dirname "$0")/.."

configuration=release scratch=.build out=
while (($#)); do
    case $1 in
    --configuration) configuration=$2; shift ;;
    --scratch-path) scratch=$2; shift ;;
    -*) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
    *) out=$1 ;;
    esac
    shift
done
out=$(realpath -m "${out:-.build/toolset}")
scratch=$(realpath -m "$scratch")

echo "Building the package ($configuration) …"
swift build -c "$configuration" --scratch-path "$scratch" --product ble
build=$(realpath "$scratch/$configuration")
target=$(swiftc -print-target-info | sed -n 's/.*"moduleTriple": "\(.*\)".*/\1/p')
compiler=$(swiftc -print-target-info | sed -n 's/.*"compilerVersion": "\(.*\)".*/\1/p')
version=$(sed -n 's/.*version: "\(.*\)".*/\1/p' Sources/ble/Ble.swift)

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
stage=$temporary/stage
mkdir -p "$stage/lib" "$stage/modules"

# Prints the arguments that the package's build gives to the compiler for a module, without those that name its outputs.
arguments() {
    sed -n 's/^ *args: \[\(.*"-module-name","'"$1"'",.*\)\]$/\1/p' "$scratch/$configuration.yaml" | head -n 1 |
        sed 's/^"//; s/"$//; s/","/\n/g' | awk '
            NR == 1 { next }
            skip { skip = 0; next }
            /^-(emit-module-path|output-file-map|emit-objc-header-path|index-store-path)$/ { skip = 1; next }
            /^-(emit-objc-header|emit-dependencies|parseable-output|serialize-diagnostics|incremental)$/ { next }
            /^-(enable-testing|enable-batch-mode|warnings-as-errors|whole-module-optimization)$/ { next }
            { print "\"" $0 "\"" }'
}

# Compiles a module of the package with library evolution. Modules that were compiled so before are found first.
evolve() {
    local module=$1 folder=$temporary/$1
    echo "Compiling $module with library evolution …"
    mkdir -p "$folder" "$stage/modules/$module.swiftmodule"
    { printf '"-I"\n"%s"\n' "$stage/modules"; arguments "$module"; } > "$folder/arguments"
    [[ $(wc -l < "$folder/arguments") -gt 10 ]] || fail "the build in $scratch has no compiler arguments for $module"
    (
        cd "$folder"
        swiftc @arguments -gnone -suppress-warnings -whole-module-optimization -enable-library-evolution \
            -module-link-name CoreBluetooth \
            -emit-module-path "$stage/modules/$module.swiftmodule/$target.swiftmodule" \
            -no-verify-emitted-module-interface \
            -emit-module-interface-path "$folder/$module.swiftinterface"
    )
    rm -f "$stage/modules/$module.swiftmodule/"*.{abi.json,swiftsourceinfo,package.swiftinterface,o}
    if grep -E '^(@_exported )?(public )?import' "$folder/$module.swiftinterface" | grep -E 'BLE[A-RT-Z]|Logging|Crypto'
    then fail "the interface of $module shows a module that is not in the toolset"; fi
}

fail() {
    echo "Packaging/toolset.sh: $*" >&2
    exit 1
}

modules=(BLESimulation CoreBluetooth CoreBluetoothExtras)
for module in "${modules[@]}"; do evolve "$module"; done
mkdir "$stage/modules/CoreBluetooth"
install -m 644 Sources/CoreBluetoothSubmodules/* "$stage/modules/CoreBluetooth"
# Only the folder for --static-swift-stdlib has this file. A program that is linked so has a Swift runtime of its own,
# and the library uses the shared one; two in one process crash.
cat >> "$stage/modules/CoreBluetooth/Enumerations.h" <<'C'

#if __has_include(<linux/static-stdlib-args.lnk>)
#error "CoreBluetooth of the toolset is a shared library: build without --static-swift-stdlib, or depend on its package"
#endif
C

echo "Linking libCoreBluetooth.so …"
{
    # What ble is linked from, without ble itself, its own libraries, and the modules that were compiled once more.
    tr -d "'" < "$build/ble.product/Objects.LinkFileList" |
        grep -vE "/(ble|CoreBluetooth|CoreBluetoothExtras|BLESimulation|ArgumentParser|ArgumentParserToolInfo)\.build/"
    for module in "${modules[@]}"; do find "$temporary/$module" -name '*.o'; done
} | sed 's/.*/"&"/' > "$temporary/objects"
echo '{ global: *13CoreBluetooth*; *13BLESimulation*; *19CoreBluetoothExtras*; local: *; };' > "$temporary/exports"
# Objects that import one of the modules ask for the library that is being linked: an empty one answers them.
ar qc "$temporary/libCoreBluetooth.a"
swiftc -emit-library -o "$stage/lib/libCoreBluetooth.so" "@$temporary/objects" -L "$temporary" -lstdc++ \
    -Xlinker -soname=libCoreBluetooth.so \
    -Xlinker "--version-script=$temporary/exports" -Xlinker --strip-debug -Xlinker -z -Xlinker defs \
    -no-toolchain-stdlib-rpath -Xlinker -rpath -Xlinker "\$ORIGIN" -Xlinker --disable-new-dtags

echo "Fetching OpenCombine …"
swift package --package-path Packaging/Compatibility --scratch-path "$scratch/compatibility" resolve
combine=$scratch/compatibility/checkouts/OpenCombine/Sources
compat=$stage/compat
mkdir -p "$compat/lib" "$compat/modules/COpenCombineHelpers"
install -m 755 Packaging/Compatibility/compiler "$compat"
cp -r Packaging/Compatibility/Submodules/* "$compat/modules"

# Compiles a module for compatibility: shim NAME FOLDER [OPTION…]
shim() {
    local module=$1 sources=$2 folder=$temporary/$1
    shift 2
    echo "Compiling $module …"
    mkdir -p "$folder" "$compat/modules/$module.swiftmodule"
    [[ $configuration == debug ]] || set -- -O "$@"
    swiftc -c -parse-as-library -whole-module-optimization -gnone -suppress-warnings -module-name "$module" \
        -module-link-name CoreBluetoothCompat -I "$compat/modules" -I "$stage/modules" "$@" \
        -emit-module-path "$compat/modules/$module.swiftmodule/$target.swiftmodule" -o "$folder/$module.o" \
        $(find "$sources" -name '*.swift')
    rm -f "$compat/modules/$module.swiftmodule/"*.{abi.json,swiftsourceinfo}
}

# OpenCombine has other module names, so that a program can have OpenCombine itself beside it.
cp "$combine"/COpenCombineHelpers/include/* "$compat/modules/COpenCombineHelpers"
echo 'module COpenCombineHelpers { header "COpenCombineHelpers.h" export * }' \
    > "$compat/modules/COpenCombineHelpers/module.modulemap"
for module in OpenCombine OpenCombineDispatch OpenCombineFoundation; do
    shim "Shim$module" "$combine/$module" -swift-version 5 -module-alias OpenCombine=ShimOpenCombine
done
shims=Packaging/Compatibility
shim ShimOS "$shims/ShimOS" -swift-version 6 -enable-library-evolution -import-underlying-module -I "$build/Modules"
shim ShimOSLog "$shims/ShimOSLog" -swift-version 6
shim ShimObjectiveC "$shims/ShimObjectiveC" -swift-version 6
shim ShimFoundation "$shims/ShimFoundation" -swift-version 6
shim ShimCombine "$shims/ShimCombine" -swift-version 6
shim ShimCoreLocation "$shims/ShimCoreLocation" -swift-version 6
shim ShimUIKit "$shims/ShimUIKit" -swift-version 6
shim ShimXCTest "$shims/ShimXCTest" -swift-version 6
rm -r "$temporary/ShimXCTest" # its methods are compiled into the programs that call them
# CryptoKit is swift-crypto's module Crypto under another name, as is the Swift module that it uses.
for pair in CryptoBoringWrapper=ShimCryptoBoringWrapper Crypto=ShimCryptoKit; do
    module=${pair#*=}
    echo "Compiling $module …"
    mkdir -p "$temporary/$module" "$compat/modules/$module.swiftmodule"
    { printf '"-I"\n"%s"\n' "$compat/modules"; arguments "${pair%=*}" | sed "s/^\"${pair%=*}\"$/\"$module\"/"; } \
        > "$temporary/$module/arguments"
    (
        cd "$temporary/$module"
        swiftc @arguments -gnone -suppress-warnings -whole-module-optimization -module-link-name CoreBluetoothCompat \
            -module-alias Crypto=ShimCryptoKit -module-alias CryptoBoringWrapper=ShimCryptoBoringWrapper \
            -emit-module-path "$compat/modules/$module.swiftmodule/$target.swiftmodule"
    )
    rm -f "$compat/modules/$module.swiftmodule/"*.{abi.json,swiftsourceinfo}
done

echo "Linking libCoreBluetoothCompat.so …"
# The symbols of the archive are not exported.
clang++ -c -std=c++17 -O2 -fPIC -I "$compat/modules/COpenCombineHelpers" -o "$temporary/helpers.o" \
    "$combine"/COpenCombineHelpers/*.cpp
ar qc "$temporary/libhidden.a" "$temporary/helpers.o" "$build"/Logging.build/*.o
find "$build"/{CCryptoBoringSSL,CCryptoBoringSSLShims,CXKCP,CXKCPShims}.build -name '*.o' \
    -exec ar qc "$temporary/libhidden.a" {} +
ar qc "$temporary/libCoreBluetoothCompat.a"
swiftc -emit-library -o "$compat/lib/libCoreBluetoothCompat.so" "$temporary"/Shim*/*.o -L "$stage/lib" -L "$temporary" \
    -lstdc++ -Xlinker --whole-archive -lhidden -Xlinker --no-whole-archive -Xlinker --exclude-libs=libhidden.a \
    -Xlinker -soname=libCoreBluetoothCompat.so -Xlinker --strip-debug -Xlinker -z -Xlinker defs \
    -no-toolchain-stdlib-rpath -Xlinker -rpath -Xlinker "\$ORIGIN:\$ORIGIN/../../lib" -Xlinker --disable-new-dtags

cat > "$stage/modules.json" <<JSON
{
  "version": "$version",
  "compiler": "$compiler",
  "target": "$target"
}
JSON
rm -rf "$out"
mkdir -p "$(dirname "$out")"
cp -r "$stage" "$out"
echo "The modules for $compiler are in $out ($(du -sh "$out" | cut -f1))."

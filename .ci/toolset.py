"""Uses the modules for toolchains as docs/TOOLSET.md says: toolset.py PACKAGE BLE MODULES FOLDER

- The package of the guide is built, tested and run with a toolset, without options in its manifest, and tested again
  after a change of a file. With a static Swift library, or with the source of this package, it is refused.
- A second package depends on it, and on packages of its own whose modules are called Logging and Crypto.
- A third package imports modules of Apple's systems, beside packages whose modules are called Logging, Crypto and
  OpenCombine, and is built and tested with a toolset for that; a module of it that asks for Combine does not find it.
- A fourth package has words of Objective-C, and is built and tested with `--objc` if the program ble-objc is built,
  also after a change of a file; else `ble toolset --objc` has to say how it is built.
- A copy of the toolchain receives the modules, builds the package without options, and is the same as before after
  they were removed; so it is after they were installed and removed again.
- The examples of `ble toolset --help` run in their order, with that copy.

MODULES is a folder that Packaging/toolset.sh has written. FOLDER is emptied. The toolchain in PATH is not changed.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from help import examples
from toolset_lamp import LAMP
from toolset_packages import GAUGE, OTHERS

FILE = re.compile(r"^`(?P<path>[\w./-]+)`:\n\n```swift\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
FILES = 4
"""The number of files in the guide."""
SECONDS = 240
"""The longest time for one command."""


class Failure(Exception):
    """A command that did not do what it has to, or a toolchain that was left changed."""


def run(
    command: list[str], folder: pathlib.Path, toolchain: pathlib.Path | None = None, expected: str = "",
    succeeds: bool = True,
) -> None:
    """Runs a command, with a toolchain other than that in PATH if one is given; fails unless it prints the text."""
    variables = dict(os.environ, BLUETOOTH_HOST="demo")
    if toolchain:
        variables["PATH"] = f"{toolchain / 'usr/bin'}:{variables['PATH']}"
    begun = time.monotonic()
    process = subprocess.run(
        command, cwd=folder, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=SECONDS, check=False,
    )
    words = " ".join(command)
    if (process.returncode == 0) != succeeds or expected not in process.stdout:
        ending = f"“{words}” ended with status {process.returncode}, without “{expected}”"
        raise Failure(f"{ending}:\n{process.stdout}")
    print(f"toolset: {words} ({time.monotonic() - begun:.1f} s)", flush=True)


def checksum(folder: pathlib.Path) -> str:
    """A checksum of all paths below a folder, with their types, permissions and contents."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        state = path.lstat()
        total.update(f"{path.relative_to(folder)}\0{state.st_mode:o}\0".encode())
        if path.is_symlink():
            total.update(os.readlink(path).encode())
        elif path.is_file():
            with path.open("rb") as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def copied_toolchain(folder: pathlib.Path) -> pathlib.Path:
    """A copy of the toolchain in PATH. Its files are hard links if the system allows them."""
    compiler = pathlib.Path(shutil.which("swiftc") or sys.exit("toolset: no swiftc in PATH")).resolve()
    source, copy = compiler.parents[1], folder / "toolchain/usr"
    copy.parent.mkdir()
    if source.parent == pathlib.Path("/"):
        # In images of Swift, /usr is the toolchain and the system at once: these are the toolchain's parts of it.
        copy.mkdir()
        parts = [source / "bin", source / "include", source / "lib/clang", source / "lib/swift",
                 source / "lib/swift_static", *source.glob("lib/*LLVM*"), *source.glob("lib/*lldb*"),
                 *source.glob("lib/libIndexStore*"), *source.glob("lib/libsourcekitdInProc*"),
                 source / "libexec/swift", source / "share/swift", source / "share/pm"]
    else:
        parts = [source]
    for part in filter(pathlib.Path.exists, parts):
        target = copy / part.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        if subprocess.run(["cp", "-al", part, target], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            shutil.rmtree(target, ignore_errors=True)
            subprocess.run(["cp", "-a", part, target], check=True)
    return copy.parent


def objective_c(package: pathlib.Path, ble: pathlib.Path, folder: pathlib.Path) -> bool:
    """Builds and tests the package with words of Objective-C; without ble-objc, reads how it is built, and is false."""
    built = [package / f"Tools/ObjC/.build/{configuration}/ble-objc" for configuration in ("release", "debug")]
    program = shutil.which("ble-objc") or next((str(path) for path in built if path.exists()), None)
    command = [str(ble), "toolset", "--objc", str(folder / "Lamp"), str(folder / "objc")]
    if program is None:
        text = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False).stderr
        if "--product ble-objc" not in text:
            raise Failure(f"ble toolset --objc does not say how ble-objc is built: {text}")
        return False
    shutil.copy(program, ble.parent / "ble-objc")
    run(command, folder, expected="translated in 3 of 3 files")
    run([str(ble), "toolset", "--check", str(folder / "objc")], folder, expected="compiles and runs")
    test = ["swift", "test", "--toolset", str(folder / "objc/toolset.json")]
    run(test, folder / "Lamp", expected="It is a lamp")
    source = folder / "Lamp/Sources/Lamp/Lamp+Description.swift"
    source.write_text(source.read_text().replace("a lamp", "another lamp"))
    run(test, folder / "Lamp", expected="It is another lamp")
    run([str(ble), "toolset", "--uninstall", str(folder / "objc")], folder, expected="Removed the toolset")
    return True


def main() -> int:
    package, program, modules, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    shutil.rmtree(folder, ignore_errors=True)
    weather, station, toolset = folder / "Weather", folder / "Station", folder / "bluetooth"
    guide = (package / "docs/TOOLSET.md").read_text()
    files = {f"Weather/{file['path']}": file["text"] for file in FILE.finditer(guide)}
    if len(files) != FILES:
        raise Failure(f"the guide has {len(files)} files instead of {FILES}")
    for path, text in (files | OTHERS | GAUGE | LAMP).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)

    # An installation as that of the Debian packages: ble finds the modules by itself.
    ble = folder / "prefix/bin/ble"
    ble.parent.mkdir(parents=True)
    shutil.copy(program, ble)
    shutil.copytree(modules, folder / "prefix/lib/corebluetooth-swift")

    option = ["--toolset", str(toolset / "toolset.json")]
    run([str(ble), "toolset", str(toolset)], folder, expected="swift build --toolset")
    run([str(ble), "toolset", "--check", str(toolset)], folder, expected="compiles and runs")
    run(["swift", "test", *option], weather, expected="Test threeReadings() passed")
    reader = weather / "Sources/Weather/Reader.swift"
    reader.write_text(reader.read_text() + "\nextension Reader {}\n")
    run(["swift", "test", *option], weather, expected="Test threeReadings() passed")
    command = ["swift", "build", *option, "--static-swift-stdlib", "--scratch-path", str(folder / "static")]
    run(command, weather, expected="build without --static-swift-stdlib", succeeds=False)
    second = package / "Sources/BLERuntime/SecondCopy.swift"
    command = ["swiftc", "-typecheck", "-DCOREBLUETOOTH_TOOLSET", str(second)]
    run(command, folder, expected="This build has CoreBluetooth twice", succeeds=False)
    run(["swift", "run", *option, "weather-now"], weather, expected="It is 21.")
    run(["swift", "run", *option, "station"], station, expected="4 10 21.")

    compatible = folder / "compat"
    run([str(ble), "toolset", "--compat", str(compatible)], folder, expected="swift build --toolset")
    run([str(ble), "toolset", "--check", str(compatible)], folder, expected="compiles and runs")
    command = ["swift", "test", "--toolset", str(compatible / "toolset.json")]
    run(command, folder / "Gauge", expected="Test run with 8 tests in 1 suite passed")
    run([str(ble), "toolset", "--uninstall", str(compatible)], folder, expected="Removed the toolset")
    if compatible.exists():
        raise Failure(f"{compatible} is still there after the toolset was removed")

    has_rewriter = objective_c(package, ble, folder)

    toolchain = copied_toolchain(folder)
    try:
        before = checksum(toolchain)
        for attempt in range(2):
            run([str(ble), "toolset", "--install"], folder, toolchain, "now finds CoreBluetooth")
            if checksum(toolchain) == before:
                raise Failure("nothing was installed")
            if attempt == 0:
                command = ["swift", "test", "--scratch-path", str(folder / "installed")]
                run(command, weather, toolchain, "Test threeReadings() passed")
            run([str(ble), "toolset", "--uninstall"], folder, toolchain, "no longer has the Core Bluetooth modules")
            if checksum(toolchain) != before:
                raise Failure("the toolchain is not the same as before after the modules were removed")
        found = [text for text in examples(str(ble), "toolset") if has_rewriter or "--objc" not in text]
        for example in found:
            run(["bash", "-c", f"PATH={ble.parent}:$PATH; {example}"], folder, toolchain)
        if checksum(toolchain) != before:
            raise Failure("the toolchain is not the same as before after the examples")
    finally:
        shutil.rmtree(toolchain)
    print(f"toolset: {len(files)} files of the guide and {len(found)} examples did what they should")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failure, subprocess.TimeoutExpired) as failure:
        print(f"toolset: {failure}")
        sys.exit(1)

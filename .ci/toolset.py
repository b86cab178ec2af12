"""Uses the modules for toolchains as docs/TOOLSET.md says: toolset.py PACKAGE BLE MODULES FOLDER

- The package of the guide is built, tested and run with a toolset, without options in its manifest.
- A second package depends on it, and on packages of its own whose modules are called Logging and Crypto.
- A third package imports modules of Apple's systems, beside packages whose modules are called Logging, Crypto and
  OpenCombine, and is built and tested with a toolset for that; a module of it that asks for Combine does not find it.
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

FILE = re.compile(r"^`(?P<path>[\w./-]+)`:\n\n```swift\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
FILES = 4
"""The number of files in the guide."""
SECONDS = 240
"""The longest time for one command."""

OTHERS = {
    "swift-log/Package.swift": """// swift-tools-version: 6.0
import PackageDescription
let package = Package(
    name: "swift-log", products: [.library(name: "Logging", targets: ["Logging"])], targets: [.target(name: "Logging")]
)
""",
    "swift-log/Sources/Logging/Logger.swift": """
public struct Logger {
    public let label: Int
    public init(label: String) { self.label = label.count }
}
""",
    "swift-crypto/Package.swift": """// swift-tools-version: 6.0
import PackageDescription
let package = Package(
    name: "swift-crypto", products: [.library(name: "Crypto", targets: ["Crypto"])], targets: [.target(name: "Crypto")]
)
""",
    "swift-crypto/Sources/Crypto/AES.swift": "public enum AES { public static let rounds = 10 }\n",
    "Station/Package.swift": """// swift-tools-version: 6.0
import PackageDescription
let package = Package(
    name: "Station",
    dependencies: [.package(path: "../Weather"), .package(path: "../swift-log"), .package(path: "../swift-crypto")],
    targets: [
        .executableTarget(
            name: "station",
            dependencies: [
                "Weather", .product(name: "Logging", package: "swift-log"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]
        )
    ]
)
""",
    "Station/Sources/station/main.swift": """
import Crypto
import Foundation
import Logging
import Weather

let reader = Reader { temperature in
    print(Logger(label: "four").label, AES.rounds, temperature)
    exit(0)
}
withExtendedLifetime(reader) { RunLoop.main.run() }
""",
}
"""Packages with modules that are called like those inside the library, and one that uses them and the guide's."""

GAUGE = {
    "OpenCombine/Package.swift": """// swift-tools-version: 6.0
import PackageDescription
let package = Package(
    name: "OpenCombine", products: [.library(name: "OpenCombine", targets: ["OpenCombine"])],
    targets: [.target(name: "OpenCombine")]
)
""",
    "OpenCombine/Sources/OpenCombine/Publisher.swift": "public enum Publishers { public static let number = 3 }\n",
    "Gauge/Package.swift": """// swift-tools-version: 6.0
import PackageDescription
let package = Package(
    name: "Gauge",
    dependencies: [.package(path: "../swift-log"), .package(path: "../swift-crypto"), .package(path: "../OpenCombine")],
    targets: [
        .target(name: "Gauge"),
        .target(
            name: "Portable",
            dependencies: [
                "OpenCombine", .product(name: "Logging", package: "swift-log"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        .testTarget(name: "GaugeTests", dependencies: ["Gauge", "Portable"]),
    ]
)
""",
    "Gauge/Sources/Gauge/Gauge.swift": """
import Combine
import CoreBluetooth
import CryptoKit
import OSLog
import UIKit
import os.log

private let logger = Logger(subsystem: "org.example.gauge", category: "radio")

public final class Gauge: NSObject, CBCentralManagerDelegate {
    @Published public private(set) var names: [String] = []
    private let states = PassthroughSubject<CBManagerState, Never>()
    private let lock = OSAllocatedUnfairLock(initialState: 0)
    private var central: CBCentralManager?
    private var observation: AnyCancellable?

    public override init() {
        super.init()
        central = CBCentralManager(delegate: self, queue: .main)
        observation = central?.publisher(for: \\.isScanning).removeDuplicates().sink {
            logger.info("scanning: \\($0, privacy: .public)")
        }
    }

    /// The number of names, and the state of the manager.
    public var pairs: AnyPublisher<String, Never> {
        $names.map(\\.count).combineLatest(states.map(\\.rawValue)).map { "\\($0) \\($1)" }.eraseToAnyPublisher()
    }

    public func centralManagerDidUpdateState(_ central: CBCentralManager) {
        os_log("%{public}@ is %04x", type: .info, "the state", central.state.rawValue)
        lock.withLock { $0 += 1 }
        states.send(central.state)
        if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }

    public func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        names.append(peripheral.name ?? "?")
        central.stopScan()
    }
}

@MainActor public var isActive: Bool { UIApplication.shared.applicationState == .active }

public func digest(_ text: String) -> String {
    SHA256.hash(data: Data(text.utf8)).prefix(2).map { String($0, radix: 16) }.joined()
}
""",
    "Gauge/Sources/Gauge/Clock.swift": """
import Foundation

public actor Line {
    private let queue = DispatchSerialQueue(label: "line")
    public init() {}
    public nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
    public func isOnQueue() -> Bool {
        dispatchPrecondition(condition: .onQueue(queue))
        return true
    }
}

public final class Clock: ObservableObject {
    @Published public var ticks = 0
    public init() {}
    public func tick() -> UInt64 {
        autoreleasepool { ticks += 1 }
        let request = URLRequest(url: URL(fileURLWithPath: "/"))
        return CFAbsoluteTimeGetCurrent() > 0 && request.httpMethod == "GET" ? NSEC_PER_SEC : 0
    }
}
""",
    "Gauge/Sources/Portable/Portable.swift": """
import Crypto
import Logging
#if canImport(Combine)
import Combine
public let numbers: [Int] = []
#else
import OpenCombine
public let numbers = [Logger(label: "four").label, AES.rounds, Publishers.number]
#endif
""",
    "Gauge/Tests/GaugeTests/GaugeTests.swift": """
import BLESimulation
import Combine
import Gauge
import ObjectiveC
import Portable
import Testing

private nonisolated(unsafe) var key: UInt8 = 0
private final class Value {
    let end: () -> Void
    init(_ end: @escaping () -> Void) { self.end = end }
    deinit { end() }
}

@MainActor @Suite struct GaugeTests {
    @Test func nameAndState() async {
        let world = World(seed: 3)
        world.place(SimulatedPeripheral(name: "Thermometer", services: [.init("181A", [])]))
        let gauge = world.inhabit { Gauge() }
        var pairs: [String] = []
        let sink = gauge.pairs.sink { pairs.append($0) }
        #expect(await world.advance(atMost: .seconds(60)) { gauge.names == ["Thermometer"] }, "\\(world.story)")
        #expect(pairs == ["0 5", "1 5"])
        sink.cancel()
    }

    @Test func merged() {
        var values: [Int] = [], latest: [String] = [], ends = 0
        let first = PassthroughSubject<Int, Never>(), second = PassthroughSubject<Int, Never>()
        let sinks = [
            first.merge(with: second).sink { values.append($0) },
            first.combineLatest(second, Just("a")).sink { latest.append("\\($0.0)\\($0.1)\\($0.2)") },
            first.combineLatest(Empty<Int, Never>()).sink { _ in ends += 1 } receiveValue: { _ in ends += 10 },
        ]
        first.send(1)
        second.send(2)
        first.send(3)
        #expect(values == [1, 2, 3] && latest == ["12a", "32a"] && ends == 1)
        sinks.forEach { $0.cancel() }
    }

    @Test func names() {
        let clock = Clock()
        var changes = 0
        let sink = clock.objectWillChange.sink { changes += 1 }
        #expect(clock.tick() == 1_000_000_000 && changes == 1)
        sink.cancel()
        #expect(isActive && digest("abc") == "ba78")
    }

    @Test func associatedObjects() async {
        let clock = Clock()
        var ends = 0
        objc_setAssociatedObject(clock, &key, Value { ends += 1 }, .OBJC_ASSOCIATION_RETAIN)
        #expect(objc_getAssociatedObject(clock, &key) is Value && ends == 0)
        objc_setAssociatedObject(clock, &key, nil, .OBJC_ASSOCIATION_RETAIN)
        #expect(objc_getAssociatedObject(clock, &key) == nil && ends == 1)
        objc_sync_enter(clock)
        objc_sync_enter(clock)
        #expect(objc_sync_exit(clock) == 0 && objc_sync_exit(clock) == 0)
        #expect(await Line().isOnQueue())
    }

    @Test func portable() { #expect(numbers == [4, 10, 3]) }
}
""",
}
"""A package that imports modules of Apple's systems, and asks for one of them in one of its modules."""


class Failure(Exception):
    """A command that did not do what it has to, or a toolchain that was left changed."""


def run(command: list[str], folder: pathlib.Path, toolchain: pathlib.Path | None = None, expected: str = "") -> None:
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
    if process.returncode != 0 or expected not in process.stdout:
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


def main() -> int:
    package, program, modules, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    shutil.rmtree(folder, ignore_errors=True)
    weather, station, toolset = folder / "Weather", folder / "Station", folder / "bluetooth"
    guide = (package / "docs/TOOLSET.md").read_text()
    files = {f"Weather/{file['path']}": file["text"] for file in FILE.finditer(guide)}
    if len(files) != FILES:
        raise Failure(f"the guide has {len(files)} files instead of {FILES}")
    for path, text in (files | OTHERS | GAUGE).items():
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
    run(["swift", "run", *option, "weather-now"], weather, expected="It is 21.")
    run(["swift", "run", *option, "station"], station, expected="4 10 21.")

    compatible = folder / "compat"
    run([str(ble), "toolset", "--compat", str(compatible)], folder, expected="swift build --toolset")
    run([str(ble), "toolset", "--check", str(compatible)], folder, expected="compiles and runs")
    command = ["swift", "test", "--toolset", str(compatible / "toolset.json")]
    run(command, folder / "Gauge", expected="Test run with 5 tests in 1 suite passed")
    run([str(ble), "toolset", "--uninstall", str(compatible)], folder, expected="is removed")
    if compatible.exists():
        raise Failure(f"{compatible} is still there after the toolset was removed")

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
        found = list(examples(str(ble), "toolset"))
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

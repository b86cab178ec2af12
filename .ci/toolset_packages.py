"""The packages that toolset.py writes and builds: paths and texts of their files."""


def library(package, module):
    """Returns the manifest of a package that has one module."""
    return f"""// swift-tools-version: 6.0
import PackageDescription
let package = Package(
    name: "{package}", products: [.library(name: "{module}", targets: ["{module}"])],
    targets: [.target(name: "{module}")]
)
"""


OTHERS = {
    "swift-log/Package.swift": library("swift-log", "Logging"),
    "swift-log/Sources/Logging/Logger.swift": """
public struct Logger {
    public let label: Int
    public init(label: String) { self.label = label.count }
}
""",
    "swift-crypto/Package.swift": library("swift-crypto", "Crypto"),
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
    "OpenCombine/Package.swift": library("OpenCombine", "OpenCombine"),
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
import CoreLocation
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

private final class Listener: NSObject, CLLocationManagerDelegate {
    var errors: AsyncStream<any Error>.Continuation?
    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) { errors?.yield(error) }
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

    @Test func noLocations() async {
        let manager = CLLocationManager(), home = CLLocation(latitude: 52.5, longitude: 13.4)
        #expect(manager.location == nil && manager.authorizationStatus == .denied)
        #expect(abs(home.distance(from: CLLocation(latitude: 48.1, longitude: 11.6)) - 505_600) < 500)
        let delegate = Listener()
        manager.delegate = delegate
        let errors = AsyncStream { delegate.errors = $0 }
        manager.requestLocation()
        for await error in errors {
            #expect(error is CLError && (error as NSError).code == CLError.Code.denied.rawValue)
            break
        }
    }

    @Test func socketStreams() {
        var sockets: [Int32] = [0, 0], input: Unmanaged<CFReadStream>?, output: Unmanaged<CFWriteStream>?
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &sockets) == 0)
        CFStreamCreatePairWithSocket(kCFAllocatorDefault, sockets[0], &input, nil)
        CFStreamCreatePairWithSocket(kCFAllocatorDefault, sockets[1], nil, &output)
        guard let reader = input?.takeRetainedValue(), let writer = output?.takeRetainedValue() else {
            Issue.record("no streams")
            return
        }
        #expect(writer.write([1, 2, 3], maxLength: 3) == -1 && writer.streamStatus == .notOpen)
        reader.open()
        writer.open()
        #expect(!reader.hasBytesAvailable && writer.hasSpaceAvailable)
        #expect(writer.write([1, 2, 3], maxLength: 3) == 3 && reader.hasBytesAvailable)
        var octets: [UInt8] = [0, 0, 0, 0]
        #expect(reader.read(&octets, maxLength: 4) == 3 && octets == [1, 2, 3, 0])
        close(sockets[1])
        #expect(reader.read(&octets, maxLength: 4) == 0 && reader.streamStatus == .atEnd)
        #expect(writer.write([1], maxLength: 1) == -1 && writer.streamStatus == .error && writer.streamError != nil)
        close(sockets[0])
    }

    @Test func times() {
        let time = DispatchTime(uptimeNanoseconds: 1_000_000), later = time.advanced(by: .milliseconds(2))
        #expect(time.distance(to: later) == .milliseconds(2) && later.distance(to: time) == .milliseconds(-2))
    }

    @Test func portable() { #expect(numbers == [4, 10, 3]) }
}
""",
}
"""A package that imports modules of Apple's systems, and asks for one of them in one of its modules."""

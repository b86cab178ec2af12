// swift-tools-version: 6.2
import PackageDescription

/// True in a package that depends on this one. Its compiler may be newer, with warnings that are not errors there.
let isDependency = ["/checkouts/", "/registry/downloads/"].contains { Context.packageDirectory.contains($0) }

/// The settings of every target: Swift 6, and warnings as errors in this package.
let common: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
] + (isDependency ? [] : [.treatAllWarnings(as: .error)])

/// The settings of the cores. They read bytes from strangers, so unsafe code must be marked.
let core: [SwiftSetting] = common + [.enableExperimentalFeature("Lifetimes"), .strictMemorySafety()]

let crypto: [Target.Dependency] = [
    .product(name: "Crypto", package: "swift-crypto"),
    .product(name: "CryptoExtras", package: "swift-crypto"),
]

/// The web server of `ble explore`; only `ble` and its tests use it.
let http: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOHTTP1", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
]

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
    name: "corebluetooth-linux",
    // Apple's systems have a framework of the same name, so the sources do not compile there and say why. These
    // versions are those of the Swift features that the sources use.
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "CoreBluetooth", targets: ["CoreBluetooth"]),
        .library(name: "CoreBluetoothExtras", targets: ["CoreBluetoothExtras"]),
        .library(name: "BLESimulation", targets: ["BLESimulation"]),
        .executable(name: "ble", targets: ["ble"]),
        .executable(name: "bled", targets: ["bled"]),
        .executable(name: "bled-bluez", targets: ["bled-bluez"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    ],
    targets: [
        // The cores: values without I/O, clocks or threads.
        .target(name: "BLEWire", swiftSettings: core),
        .target(name: "BLECrypto", dependencies: ["BLEWire"] + crypto, swiftSettings: core),
        .target(name: "BLEHost", dependencies: ["BLEWire", "BLECrypto"], swiftSettings: core),
        .target(name: "BLEController", dependencies: ["BLEWire", "BLECrypto"], swiftSettings: core),

        // Messages and connections of D-Bus, for the desktop and for programs that use BlueZ's API.
        .target(name: "DBus", dependencies: ["BLERuntime", "BLEWire"], swiftSettings: common),

        // BlueZ's D-Bus API as a value: calls and events in, replies, signals and requests out.
        .target(name: "BLEBlueZ", dependencies: ["DBus", "BLEHost", "BLEWire"], swiftSettings: core),

        // The messages between apps and the daemon.
        .target(name: "BLESession", dependencies: ["BLEHost", "BLEWire"], swiftSettings: core),

        // System calls that the module Glibc lacks.
        .systemLibrary(name: "LinuxCalls"),

        // The cores with sockets, adapters, threads and files, and simulated worlds.
        .target(
            name: "BLERuntime",
            dependencies: [
                "LinuxCalls", "BLESession", "BLEHost", "BLEWire", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: common
        ),
        .target(
            name: "BLESimulation",
            dependencies: [
                "BLEExplain", "BLERuntime", "BLEHost", "BLEController", "BLEWire",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: common
        ),

        // The page of `ble explain`, and the causes of failures.
        .target(
            name: "BLEExplain",
            dependencies: ["BLERuntime", "BLEWire"],
            resources: [.embedInCode("Page/page.css"), .embedInCode("Page/page.js"), .embedInCode("Page/live.js")],
            swiftSettings: common
        ),
        .target(
            name: "CoreBluetooth",
            dependencies: ["CoreBluetoothSubmodules", "BLERuntime", "BLESimulation", "BLEHost", "BLEWire"],
            swiftSettings: common
        ),

        // The submodules, such as `CoreBluetooth.CBUUID`, and enumerations that C code needs.
        .systemLibrary(name: "CoreBluetoothSubmodules"),

        .target(
            name: "CoreBluetoothExtras",
            dependencies: ["CoreBluetooth", "BLESimulation", "BLERuntime", "BLEHost", "BLEWire"],
            swiftSettings: common
        ),

        // The daemon, which shares radios among processes.
        .target(
            name: "BLEDaemon",
            dependencies: [
                "BLESimulation", "BLERuntime", "BLESession", "BLEHost", "BLEWire",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: common
        ),

        // Programs.
        .executableTarget(
            name: "ble",
            dependencies: [
                "CoreBluetooth", "CoreBluetoothExtras", "BLESimulation", "BLEExplain", "DBus", "BLERuntime",
                "BLESession", "BLEHost", "BLEWire", argumentParser,
                .product(name: "Logging", package: "swift-log"),
            ] + http,
            swiftSettings: common
        ),
        .executableTarget(
            name: "bled-bluez",
            dependencies: [
                "BLEBlueZ", "DBus", "BLERuntime", "BLESession", "BLEHost", "BLEWire", "LinuxCalls", argumentParser,
            ],
            swiftSettings: common
        ),
        .executableTarget(
            name: "bled",
            dependencies: ["BLEDaemon", "BLERuntime", argumentParser],
            swiftSettings: common
        ),
        .executableTarget(
            name: "BLEConformance",
            dependencies: [
                "BLEDaemon", "BLESimulation", "BLERuntime", "BLEHost", "BLECrypto", "BLEWire", argumentParser,
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: common
        ),
        .executableTarget(
            name: "BLEBenchmarks",
            dependencies: [
                "CoreBluetooth", "CoreBluetoothExtras", "BLEDaemon", "BLESimulation", "BLERuntime", "BLEHost",
                "BLEController", "BLEWire",
            ],
            path: "Benchmarks/BLEBenchmarks",
            swiftSettings: common
        ),

        .executableTarget(
            name: "BLEDay",
            dependencies: ["CoreBluetooth", "BLESimulation", "BLERuntime", argumentParser],
            path: "Benchmarks/BLEDay",
            swiftSettings: common
        ),

        // Tests, one target for each target that they test.
        .testTarget(name: "BLEWireTests", dependencies: ["BLEWire"], swiftSettings: core),
        .testTarget(name: "BLECryptoTests", dependencies: ["BLECrypto", "BLEWire"], swiftSettings: core),
        .testTarget(
            name: "BLEHostTests",
            dependencies: ["BLEHost", "BLEController", "BLECrypto", "BLEWire"],
            swiftSettings: core
        ),
        .testTarget(
            name: "BLEControllerTests",
            dependencies: ["BLEController", "BLECrypto", "BLEWire"],
            swiftSettings: core
        ),
        .testTarget(name: "DBusTests", dependencies: ["DBus", "BLERuntime"], swiftSettings: common),
        .testTarget(
            name: "BLEBlueZTests",
            dependencies: ["BLEBlueZ", "DBus", "BLEHost", "BLEWire"],
            swiftSettings: common
        ),
        .testTarget(name: "BLESessionTests", dependencies: ["BLESession", "BLEHost", "BLEWire"], swiftSettings: core),
        .testTarget(
            name: "BLERuntimeTests",
            dependencies: [
                "LinuxCalls", "BLERuntime", "BLESession", "BLEHost", "BLEWire",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: common
        ),
        .testTarget(
            name: "BLEExplainTests",
            dependencies: ["BLEExplain", "CoreBluetooth", "BLESimulation", "BLERuntime", "BLEWire"],
            swiftSettings: common
        ),
        .testTarget(
            name: "BLESimulationTests",
            dependencies: [
                "BLESimulation", "CoreBluetooth", "BLERuntime", "BLEHost", "BLEWire",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: common
        ),
        .testTarget(
            name: "CoreBluetoothTests",
            dependencies: ["CoreBluetooth", "BLESimulation", "BLEController", "BLERuntime", "BLEHost", "BLEWire"],
            swiftSettings: common
        ),
        .testTarget(
            name: "CoreBluetoothExtrasTests",
            dependencies: ["CoreBluetoothExtras", "BLESimulation", "BLERuntime", "BLEHost", "BLEWire"],
            swiftSettings: common
        ),
        .testTarget(
            name: "bleTests",
            dependencies: [
                "ble", "BLEDaemon", "CoreBluetoothExtras", "CoreBluetooth", "BLESimulation", "BLEExplain", "DBus",
                "BLERuntime", "BLEHost", "BLEWire", argumentParser,
            ] + http,
            swiftSettings: common
        ),
        .testTarget(
            name: "BLEDaemonTests",
            dependencies: [
                "bled", "BLEDaemon", "CoreBluetoothExtras", "CoreBluetooth", "BLESimulation", "BLERuntime",
                "BLESession", "BLEHost", "BLEWire",
            ],
            swiftSettings: common
        ),
        .testTarget(
            name: "BLEConformanceTests",
            dependencies: ["BLEConformance", "BLEHost", "BLESimulation", "BLERuntime", "BLEWire", argumentParser],
            swiftSettings: common
        ),
        .testTarget(name: "BLEDayTests", dependencies: ["BLEDay", "CoreBluetooth"], swiftSettings: common),
        .testTarget(name: "TidyTests", swiftSettings: common),
    ]
)

// The plugin makes the documentation site. Packages that depend on this one do not need it.
if Context.environment["DOCUMENTATION"] != nil {
    package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.4.0"))
}

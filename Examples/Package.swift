// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Examples",
    dependencies: [.package(name: "corebluetooth-linux", path: "..")],
    targets: [
        .example("FirstSteps"),
        .example("FindAndConnect"),
        .example("ChatRoom"),
        .example("GoodPractice"),
        .example("PeripheralMode"),
        .example("Scoreboard"),
        .example("TrustedDevices", and: ["CoreBluetoothExtras"]),
        .testTarget(
            name: "ExamplesTests",
            dependencies: [
                "FirstSteps", "FindAndConnect", "ChatRoom", "GoodPractice", "PeripheralMode", "Scoreboard",
                "TrustedDevices",
                .product(name: "CoreBluetooth", package: "corebluetooth-linux"),
                .product(name: "BLESimulation", package: "corebluetooth-linux"),
            ]
        ),
    ]
)

extension Target {
    /// A program that knows nothing but Core Bluetooth and these products.
    static func example(_ name: String, and products: [String] = []) -> Target {
        .executableTarget(
            name: name,
            dependencies: (["CoreBluetooth"] + products).map { .product(name: $0, package: "corebluetooth-linux") },
            swiftSettings: [.swiftLanguageMode(.v5)]
        )
    }
}

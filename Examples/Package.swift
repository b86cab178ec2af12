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
        .testTarget(
            name: "ExamplesTests",
            dependencies: [
                "FirstSteps", "FindAndConnect", "ChatRoom", "GoodPractice", "PeripheralMode",
                .product(name: "CoreBluetooth", package: "corebluetooth-linux"),
                .product(name: "BLESimulation", package: "corebluetooth-linux"),
            ]
        ),
    ]
)

extension Target {
    /// A program that knows nothing but Core Bluetooth.
    static func example(_ name: String) -> Target {
        .executableTarget(
            name: name,
            dependencies: [.product(name: "CoreBluetooth", package: "corebluetooth-linux")],
            swiftSettings: [.swiftLanguageMode(.v5)]
        )
    }
}

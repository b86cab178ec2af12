// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that packages that depend on this project do not fetch and build swift-syntax.
let package = Package(
    name: "ObjC",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "ble-objc", targets: ["ble-objc"])],
    dependencies: [
        .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    ],
    targets: [
        .target(
            name: "ObjCWords",
            dependencies: [
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
            ]
        ),
        .executableTarget(
            name: "ble-objc",
            dependencies: ["ObjCWords", .product(name: "ArgumentParser", package: "swift-argument-parser")]
        ),
        .testTarget(name: "ObjCWordsTests", dependencies: ["ObjCWords"]),
    ]
)

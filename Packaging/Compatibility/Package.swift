// swift-tools-version: 6.2
import PackageDescription

// Names the packages of others that Packaging/toolset.sh compiles into the modules for compatibility. The modules
// themselves are not targets: SwiftPM has no means to give them the names that programs import.
let package = Package(
    name: "Compatibility",
    dependencies: [.package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0")]
)

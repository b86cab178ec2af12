import Foundation
import Testing

@Suite("The package on other platforms")
struct LinuxOnlyTests {
    private static let file = Toolchain.package.appending(path: "Sources/BLEWire/LinuxOnly.swift")

    @Test(
        "Building on an Apple platform fails with one error that tells what to write",
        arguments: ["arm64-apple-macosx15.0", "arm64-apple-ios18.0"]
    )
    func refused(target: String) throws {
        let outcome = try Toolchain.compile(Self.file, for: target)
        #expect(!outcome.succeeded)
        let errors = outcome.output.split(separator: "\n").filter { $0.contains("error: ") && $0.contains(".swift:") }
        #expect(errors.count == 1, "\(outcome.output)")
        #expect(errors.first?.contains("condition: .when(platforms: [.linux])") == true)
    }

    @Test("Building on Linux gives no message")
    func taken() throws {
        let outcome = try Toolchain.compile(Self.file, for: "x86_64-unknown-linux-gnu")
        #expect(outcome.succeeded && outcome.output.isEmpty)
    }
}

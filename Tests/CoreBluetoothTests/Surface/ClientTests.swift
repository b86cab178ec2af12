import Foundation
import Testing

/// Apps as they are written for Apple's framework; Tests/Surface has their sources.
@Suite("Apps written for Apple's framework")
struct ClientTests {
    @Test("Apps compile without a warning in both language modes", .behaviour("1.1.7"), arguments: [5, 6])
    func compiling(mode: Int) throws {
        let tests = "Tests/CoreBluetoothTests/Surface/"
        let own = ["SurfaceApp.swift", "SurfaceApp+Peripherals.swift"].map {
            Toolchain.package.appending(path: tests + $0)
        }
        let outcome = try Toolchain.compile(sources(in: "Clients") + own, mode: mode)
        #expect(outcome.succeeded, "\(outcome.output)")
    }

    /// What the compiler has to say of a promise that is made without need, and of one that a subclass does not repeat.
    static let warnings = ["was already stated in the type's module", "must restate inherited '@unchecked Sendable'"]

    @Test("Apps that declare classes Sendable or subclass others compile with a warning", arguments: [5, 6])
    func promising(mode: Int) throws {
        for file in try sources(in: "Warned") {
            let outcome = try Toolchain.compile([file], mode: mode, allowsWarnings: true)
            #expect(outcome.succeeded, "\(outcome.output)")
            let warnings = outcome.output.split(separator: "\n").filter {
                $0.contains("swift:") && $0.contains("warning:")
            }
            let unknown = warnings.filter { line in
                !(Self.warnings + ["'nonisolated(unsafe)' is unnecessary"]).contains { line.contains($0) }
            }
            #expect(unknown == [])
        }
    }

    @Test("Apps whose code is all on the main actor compile", arguments: [5, 6])
    func mainActor(mode: Int) throws {
        let outcome = try Toolchain.compile(sources(in: "MainActor"), mode: mode, ["-default-isolation", "MainActor"])
        #expect(outcome.succeeded, "\(outcome.output)")
    }

    /// What is refused on Apple's systems, or cannot be had on this one, and part of what the compiler says of it.
    static let refused = [
        ("let request = CBATTRequest()", "'init()' is unavailable"),
        ("let peer = CBPeripheral()", "inaccessible"),
        ("let attribute = CBService()", "no exact matches"),
        ("let results = CBChannelSoundingProcedureResults()", "'init()' is unavailable"),
        ("final class D: NSObject, CBCentralManagerDelegate {}", "does not conform"),
        ("final class D: NSObject, CBPeripheralManagerDelegate {}", "does not conform"),
        ("func f(_ c: CBCharacteristic) { c.value = nil }", "get-only"),
        ("func f(_ c: CBService) { c.characteristics = [] }", "get-only"),
        ("func f(_ p: CBPeripheral) { p.name = nil }", "get-only"),
        ("let option: CBConnectionEventMatchingOption = .init(\"x\")", "rawValue"),
        ("func f(_ s: CBManagerState) { switch s { case .poweredOn: break } }", "exhaustive"),
        (
            "func f(_ s: CBConnectionEvent) { switch s { case .peerDisconnected, .peerConnected: break } }",
            "additional unknown values"
        ),
        ("func f(_ m: CBCentralManager) { m.delegate?.centralManager?(m, didUnite: m) }", "callAsFunction"),
    ]

    @Test("Code that Apple's framework refuses does not compile", arguments: refused)
    func refusing(source: String, complaint: String) throws {
        let outcome = try Toolchain.compile("import CoreBluetooth\n\(source)\n", mode: 6)
        #expect(!outcome.succeeded)
        #expect(outcome.output.contains(complaint), "\(outcome.output)")
    }

    private func sources(in folder: String) throws -> [URL] {
        let folder = Toolchain.package.appending(path: "Tests/Surface/\(folder)")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return files.filter { $0.pathExtension == "swift" }.sorted { $0.path < $1.path }
    }
}

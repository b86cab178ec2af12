import BLEHost
import BLERuntime
import BLEWire
import FoundationEssentials
import Testing

@Suite("State of virtual radios")
struct RadioStateFilesTests {
    private static let radio = VirtualRadio(address: DeviceAddress(0xCAB1_E000_0001, .public), run: 0x1A2B)
    private static let lamp = PeerRecord(
        identifier: PeerIdentifier(rawValue: 9),
        address: DeviceAddress(0xCAB1_E000_0002, .public),
        bond: Bond(identity: DeviceAddress(0xCAB1_E000_0002, .public))
    )

    /// Runs `body` with the path of a folder that is not there yet.
    private static func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/radios-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder + "/radios")
    }

    private static func files(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".json") }.sorted()
    }

    @Test("A peer is found again only in the same run and on the same controller")
    func runs() throws {
        try Self.withFolder { folder in
            let first = RadioStateFiles(folder: folder, secret: 7)
            #expect(first.peers(on: Self.radio).isEmpty)
            #expect(!FileManager.default.fileExists(atPath: folder))
            first.remember(Self.lamp, on: Self.radio)
            first.flush()
            let again = RadioStateFiles(folder: folder, secret: 7)
            #expect(again.peers(on: Self.radio) == [Self.lamp])
            #expect(again.peers(on: VirtualRadio(address: Self.radio.address, run: 3)).isEmpty)
            #expect(again.peers(on: VirtualRadio(address: Self.lamp.address, run: Self.radio.run)).isEmpty)
            let files = try Self.files(in: folder)
            #expect(files == ["cab1e0000001-1a2b.json"])
        }
    }

    @Test("The number of files is limited, and other files are left alone")
    func most() throws {
        try Self.withFolder { folder in
            for index in 0..<(RadioStateFiles.most + 20) {
                // As a process for each run.
                let files = RadioStateFiles(folder: folder, secret: 7)
                files.remember(Self.lamp, on: VirtualRadio(address: Self.radio.address, run: UInt16(index + 2)))
                files.flush()
            }
            let files = try Self.files(in: folder)
            #expect(files.count == RadioStateFiles.most)
            let last = VirtualRadio(address: Self.radio.address, run: UInt16(RadioStateFiles.most + 21))
            #expect(RadioStateFiles(folder: folder, secret: 7).peers(on: last) == [Self.lamp])
        }
    }
}

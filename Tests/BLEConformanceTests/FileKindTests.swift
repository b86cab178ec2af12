import Testing

@testable import BLEConformance

@Suite("File kinds")
struct FileKindTests {
    private static let files: [(FileKind, String)] = [
        (.world, #"{"machines": [{"name": "Lamp", "services": [{"uuid": "180F"}]}]}"#),
        (
            .state,
            #"{"secret": "5e", "peers": [{"identifier": "1", "address": "C1:02:03:04:05:06", "isRandom": true}]}"#
        ),
        (.attributes, AttributeCases.battery),
        (.capture, section),
    ]

    /// A capture in pcapng without packets.
    private static let section =
        "\n\r\r\n\u{1C}\0\0\0M<+\u{1A}\u{1}\0\0\0" + String(repeating: "\0", count: 8) + "\u{1C}\0\0\0"

    @Test("A file of the right kind is usable", arguments: files)
    func usable(_ kind: FileKind, _ text: String) async {
        #expect(await kind.isUsable(Array(text.utf8)))
    }

    @Test("A truncated file is not usable", arguments: files)
    func truncated(_ kind: FileKind, _ text: String) async {
        #expect(await !kind.isUsable(Array(text.utf8.dropLast(2))))
    }
}

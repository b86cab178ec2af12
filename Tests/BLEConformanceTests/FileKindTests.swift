import Testing

@testable import BLEConformance

@Suite("Files that are tried")
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

    @Test("are usable when they are what they should be", arguments: files)
    func usable(_ kind: FileKind, _ text: String) async {
        #expect(await kind.isUsable(Array(text.utf8)))
    }

    @Test("are not usable when they end too soon", arguments: files)
    func truncated(_ kind: FileKind, _ text: String) async {
        #expect(await !kind.isUsable(Array(text.utf8.dropLast(2))))
    }
}

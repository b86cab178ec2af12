import ArgumentParser
import Testing

@testable import ble

@Suite("Choosing the daemon")
struct DaemonChoiceTests {
    @Test(
        "Pairing questions are answered through a daemon if apps share a radio, and a named daemon is waited for",
        arguments: [
            (nil, nil, false), (nil, "/run/bled/socket", true), ("demo", "/run/bled/socket", false),
            ("hci:0", nil, false), ("nonsense", "/run/bled/socket", false), ("bled", nil, true),
            ("bled:/tmp/bled", nil, true), ("bled:/tmp/bled#hci:1", nil, true),
        ] as [(String?, String?, Bool)]
    )
    func agent(host: String?, found: String?, isShared: Bool) {
        let choice = DaemonChoice(host: host, found: found)
        do throws(CommandError) {
            try choice.check()
            #expect(isShared)
        } catch {
            #expect(!isShared && error.exitCode == ExitCode(69))
        }
    }

    @Test(
        "The named daemon is used, or otherwise the one that listens",
        arguments: [
            (nil, "/run/bled/socket", "/run/bled/socket"), ("bled:/tmp/bled#hci:1", "/run/bled/socket", "/tmp/bled"),
            ("bled", "/run/bled/socket", "/run/bled/socket"), ("bled", nil, nil), (nil, nil, nil),
        ] as [(String?, String?, String?)]
    )
    func path(host: String?, found: String?, path: String?) {
        #expect((try? DaemonChoice(host: host, found: found).path) == path)
    }
}

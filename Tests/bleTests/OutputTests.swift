import BLERuntime
import BLESimulation
import CoreBluetooth
import Testing

@testable import ble

@Suite("Closed output", .serialized, .timeLimit(.minutes(30)))
struct OutputTests {
    /// Every command, so that it prints something as soon as it can.
    private static let commands: [[String]] = [
        ["demo", "--json"],
        ["scan", "--json"],
        ["inspect", "Lamp", "--timeout", "300", "--json"],
        ["read", "Lamp", "FFA1", "--timeout", "300", "--json"],
        ["write", "Lamp", "FFA1", "01", "--timeout", "300", "--json"],
        ["notify", "Lamp", "FFA1", "--timeout", "300", "--json"],
        ["serve", "FILE", "--json"],
        ["channel", "open", "Store", "--timeout", "300", "--json"],
        ["channel", "serve", "--json"],
        ["chat", "host", "--stay", "--json"],
        ["chat", "join", "Lobby", "--stay", "--json"],
        ["radio", "--port", "PORT", "--json"],
        ["help"],
        ["--version"],
    ]

    private static let lamp = """
        {"name": "Lamp", "services": [{"uuid": "FFA0", "characteristics": [
          {"uuid": "FFA1", "properties": ["read", "write", "notify"], "value": "0x11"}]}]}
        """

    /// Does what `arguments` say, in a world with a peripheral of each kind.
    @MainActor
    private static func perform(_ arguments: [String]) async throws {
        let device = try JSONDecoder().decode(SimulatedPeripheral.self, from: Data(lamp.utf8))
        let world = World(seed: 1)
        let apps: [NSObject] = [
            world.machine("lamp", at: .init(x: 1)).inhabit {
                DescribedPeripheral(PeripheralDescription(device)) { _ in }
            },
            world.machine("store", at: .init(x: 2)).inhabit { ChannelServer(name: "Store") { _ in } },
            world.machine("lobby", at: .init(x: 3)).inhabit { ChatHost(name: "Lobby") { _ in } },
        ]
        world.runInRealTime()
        await world.machine("phone").inhabit { await Ble.main(arguments) }
        withExtendedLifetime(apps) {}
    }

    /// Has `descriptor` refuse everything: as a full disk does, or as a pipe without a reader.
    private static func clog(_ descriptor: Int32, asPipe isPipe: Bool) {
        var ends: [Int32] = [0, 0]
        if isPipe {
            signal(SIGPIPE, SIG_IGN)
            pipe(&ends)
            close(ends[0])
        } else {
            ends[1] = open("/dev/full", O_WRONLY)
        }
        dup2(ends[1], descriptor)
    }

    @Test("Each command ends with an error message and exit status 74", arguments: commands, [false, true])
    func ends(arguments: [String], isPipe: Bool) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).json")
        try Data(Self.lamp.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let radio = RadioServer(seed: 1), port = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        radio.stop()
        let arguments = arguments.map { ["FILE": file.path, "PORT": "\(port)"][$0] ?? $0 }
        let result = await #expect(processExitsWith: .exitCode(74), observing: [\.standardErrorContent]) {
            [arguments, isPipe] in
            Self.clog(1, asPipe: isPipe)
            try await Self.perform(arguments)
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let reason = isPipe ? "Broken pipe" : "No space left on device"
        #expect(said.contains("ble: Cannot write to standard output: \(reason).\n"))
    }

    @Test("Remarks that cannot be written are ignored", arguments: [false, true])
    func remarks(isPipe: Bool) async {
        await #expect(processExitsWith: .success) { [isPipe] in
            Self.clog(2, asPipe: isPipe)
            await Ble.main(["demo"])
        }
    }
}

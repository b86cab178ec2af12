import BLEDaemon
import BLERuntime
import BLESimulation
import CoreBluetooth
import Foundation

@testable import ble

/// A process in which one command runs and prints JSON, with the devices and apps that it has to do with.
@MainActor
struct JSONStage {
    private let tried: JSONTests.Case
    private let folder: String

    init(_ tried: JSONTests.Case, folder: String) {
        self.tried = tried
        self.folder = folder
    }

    /// Runs the command; what it prints goes on to standard output and standard error of the process.
    func run() async throws {
        let port = RadioServer(seed: 1), number = try port.listen(at: .tcp(host: "127.0.0.1", port: 0))
        port.stop()
        let places = [
            "FILE": folder + "/lamp.json", "CAPTURE": folder + "/talk.pcapng", "PORT": "\(number)",
            "SELF": "\(getpid())",
        ]
        let words = tried.words.map { places[$0] ?? $0 } + ["--json"]
        setenv("XDG_STATE_HOME", folder, 1)
        // A shell may have started the tests in the background, with an ignored SIGINT.
        signal(SIGINT, SIG_DFL)
        feed(tried.words.starts(with: ["channel", "open"]) ? "hello" : "")
        let watching = tried.end.map { end in [1, 2].map { Passage(of: $0, endingAt: end) } } ?? []
        defer { for passage in watching { passage.finish() } }
        switch tried.place {
        case .phone, .visited: try await runInWorld(words)
        case .daemon: try await runBesideDaemon(words)
        }
    }

    /// Has standard input be this text.
    private func feed(_ text: String) {
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        _ = text.withCString { write(ends[1], $0, strlen($0)) }
        close(ends[1])
        dup2(ends[0], STDIN_FILENO)
    }

    private func runInWorld(_ words: [String]) async throws {
        let device = try JSONDecoder().decode(SimulatedPeripheral.self, from: Data(JSONTests.lamp.utf8))
        let world = World(seed: 1)
        var apps: [NSObject] = []
        if tried.place == .phone {
            apps.append(
                world.machine("lamp", at: .init(x: 1)).inhabit {
                    DescribedPeripheral(PeripheralDescription(device)) { _ in }
                }
            )
        }
        let echoes = ChannelEchoes(Printer(json: true) { _ in })
        apps.append(
            world.machine("store", at: .init(x: 2)).inhabit {
                ChannelServer(name: "Echo") { if case .opened(let channel) = $0 { echoes.add(channel) } }
            }
        )
        apps.append(world.machine("lobby", at: .init(x: 3)).inhabit { ChatHost(name: "Lobby") { _ in } })
        let visit = tried.place == .visited ? world.machine("visitor").inhabit { Task { try await useLamp() } } : nil
        world.runInRealTime()
        await world.machine("phone").inhabit { await Ble.main(words) }
        visit?.cancel()
        withExtendedLifetime(apps) {}
    }

    /// Uses a lamp, as an app on another machine.
    private func useLamp() async throws {
        let central = Central()
        try await central.powerOn()
        let lamp = try await central.find(PeerReference(text: "Lamp"), within: .seconds(600))
        try await central.connect(lamp, within: .seconds(600))
        let wanted = ["2A6E", "FFA1"].compactMap { CharacteristicReference(argument: $0) }
        let found = try await central.characteristics(wanted, of: lamp)
        _ = try await central.read(found[0], of: lamp)
        try await central.setNotify(true, for: found[0], of: lamp)
        try await central.write(Data([1]), to: found[1], of: lamp)
    }

    private func runBesideDaemon(_ words: [String]) async throws {
        let world = Scenario.demo.makeWorld(), path = folder + "/socket"
        world.runInRealTime()
        let daemon = Daemon(
            Radios([("world", world.machine("phone"))]),
            under: .none,
            keeping: KeptFile(path: folder + "/sessions"),
            switches: folder + "/off",
            launcher: AppLauncher()
        )
        try daemon.listen(at: path)
        setenv("BLUETOOTH_HOST", "bled:" + path, 1)
        let central = Bluetooth.$link.withValue(DaemonLink(to: path, radio: "")) { Central() }
        try await central.powerOn()
        let heart = try await central.find(PeerReference(text: "Heart"), within: .seconds(600))
        try await central.connect(heart, within: .seconds(600))
        await Ble.main(words)
        withExtendedLifetime((daemon, central)) {}
    }
}

/// One of the streams that a process prints to, which is looked at on its way.
///
/// When a line has a certain text, the process is interrupted, as by Ctrl-C.
private final class Passage: @unchecked Sendable {
    private let descriptor: Int32
    private let original: Int32
    private let done = DispatchSemaphore(value: 0)

    init(of descriptor: Int32, endingAt end: String) {
        self.descriptor = descriptor
        original = dup(descriptor)
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        dup2(ends[1], descriptor)
        close(ends[1])
        let (reading, original, done) = (ends[0], original, done)
        Thread.detachNewThread {
            var seen = Data(), buffer = [UInt8](repeating: 0, count: 4_096), isOver = false
            while case let count = read(reading, &buffer, buffer.count), count > 0 {
                seen.append(contentsOf: buffer[..<count])
                _ = write(original, buffer, count)
                guard !isOver, seen.firstRange(of: Data(end.utf8)) != nil else { continue }
                isOver = true
                kill(getpid(), SIGINT)
            }
            done.signal()
        }
    }

    /// Waits until all has passed, and looks no more.
    func finish() {
        dup2(original, descriptor)
        done.wait()
    }
}

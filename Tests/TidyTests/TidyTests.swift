import Testing

@Suite("Style rules")
struct TidyTests {
    @Test("Every file follows the rules", arguments: Rule.all)
    func kept(_ rule: Rule) {
        for file in SourceFile.all where rule.applies(file.path) {
            for finding in rule.findings(file) {
                Issue.record("\(file.path):\(finding.line): \(finding.complaint)")
            }
        }
    }

    @Test("Each rule detects its violations, and only those", arguments: Rule.all)
    func noticed(_ rule: Rule) {
        #expect(rule.applies(rule.example))
        #expect(!rule.caught.isEmpty)
        for text in rule.caught {
            #expect(!rule.findings(SourceFile(path: rule.example, text: text)).isEmpty, "not caught: \(text)")
        }
        for text in rule.allowed {
            #expect(rule.findings(SourceFile(path: rule.example, text: text)).isEmpty, "caught: \(text)")
        }
    }

    @Test("The rules are checked against all sources, not an empty folder")
    func filesAreFound() {
        let paths = Set(SourceFile.all.map(\.path))
        #expect(paths.isSuperset(of: ["Package.swift", "Sources/BLEWire/Codec/Wire.swift"]))
        for module in coreModules { #expect(paths.contains { $0.hasPrefix("Sources/\(module)/") }) }
    }

    @Test("Every use of unchecked concurrency is listed here with its reason")
    func uncheckedPromises() {
        var found: [String: Int] = [:]
        for file in SourceFile.all where isSource(file.path) {
            let count =
                file.positions(of: ["@", "unchecked", "Sendable"]).count
                + file.positions(of: ["nonisolated", "(", "unsafe", ")"]).count
            if count > 0 { found[file.path] = count }
        }
        #expect(found == Self.uncheckedPromises.mapValues(\.count))
    }

    private static let uncheckedPromises: [String: (count: Int, reason: String)] = [
        "Benchmarks/BLEDay/Apps/DayApp.swift": (1, "everything happens on its queue, and alone there"),
        "Benchmarks/BLEDay/Apps/DayCentral.swift": (1, "everything happens on its queue, and alone there"),
        "Benchmarks/BLEDay/Apps/DayServer.swift": (1, "everything happens on its queue, and alone there"),
        "Benchmarks/BLEDay/Scene/Shared.swift": (1, "a lock makes each access whole"),
        "Benchmarks/BLEBenchmarks/Facade/FacadeCentral.swift": (1, "everything happens on its queue"),
        "Benchmarks/BLEBenchmarks/Facade/FacadePeripheral.swift": (1, "everything happens on its queue"),
        "Benchmarks/BLEBenchmarks/Facade/FeedTransport.swift": (1, "everything happens on the thread of its loop"),
        "Benchmarks/BLEBenchmarks/Peer/PeerClient.swift": (1, "everything happens on its queue"),
        "Benchmarks/BLEBenchmarks/Peer/PeerServer.swift": (1, "everything happens on its queue"),
        "Benchmarks/BLEBenchmarks/Peer/PeerStreams.swift": (2, "set before it is used"),
        "Benchmarks/BLEBenchmarks/Worlds/ChatClient.swift": (3, "everything happens on its queue"),
        "Sources/BLERuntime/Adapter/AdapterWatch.swift": (1, "everything happens on the thread of its loop"),
        "Sources/BLERuntime/ClientMailbox.swift": (1, "a source of Dispatch may be used on any thread"),
        "Sources/BLERuntime/Daemon/DaemonLink.swift": (1, "used by the thread that holds the loop's lock"),
        "Sources/BLERuntime/Daemon/DaemonSession.swift": (1, "used by the thread that holds the loop's lock"),
        "Sources/BLEDaemon/Sessions/AppConnection.swift": (1, "everything happens on the thread of its loop"),
        "Sources/BLEDaemon/Apps/AppLauncher.swift": (1, "everything happens on the thread of the daemon's loop"),
        "Sources/BLEDaemon/Sessions/KeptSessionEntry.swift": (
            1, "everything happens on the thread of the daemon's loop"
        ),
        "Sources/BLEDaemon/Sessions/KeptSessions.swift": (1, "everything happens on the thread of the daemon's loop"),
        "Sources/BLEDaemon/ConnectionAcceptor.swift": (1, "everything happens on the thread of its loop"),
        "Sources/BLEDaemon/Daemon.swift": (1, "everything happens on the thread of its loop"),
        "Sources/BLERuntime/HostRunner.swift": (1, "used by the thread that holds the loop's lock"),
        "Sources/BLERuntime/Loop/LoopInbox.swift": (1, "it is a lock"),
        "Sources/BLERuntime/Loop/LoopThread.swift": (1, "all that other threads use is Sendable by itself"),
        "Sources/BLERuntime/Loop/LoopWork.swift": (1, "all but the identity of the thread is protected by the lock"),
        "Sources/BLERuntime/Loop/LoopWatch.swift": (2, "used on one thread, cancelled through an atomic"),
        "Sources/BLERuntime/Monitor/HostMonitor.swift": (1, "everything happens on the thread of its loop"),
        "Sources/BLERuntime/Monitor/MonitorServer.swift": (1, "everything happens on the thread of its loop"),
        "Sources/BLERuntime/Monitor/PacketObservers.swift": (1, "everything happens on the thread of its loop"),
        "Sources/BLERuntime/Transport/PortStream.swift": (1, "everything happens on the thread of its loop"),
        "Sources/BLERuntime/Transport/PortTransport.swift": (1, "everything happens on the thread of its loop"),
        "Sources/BLERuntime/Transport/SocketListener.swift": (1, "everything happens on the thread of its loop"),
        "Sources/BLERuntime/Transport/SocketStream.swift": (1, "everything happens on the thread of its loop"),
        "Sources/BLERuntime/Transport/SocketTransport.swift": (1, "everything happens on the thread of its loop"),
        "Sources/BLESimulation/Radio/RadioServer.swift": (1, "everything happens on the thread of its loop"),
        "Sources/CoreBluetooth/Channels/ChannelState.swift": (1, "a lock makes each access whole"),
        "Sources/CoreBluetooth/Channels/RunLoopSignal.swift": (1, "a lock makes each access whole"),
        "Sources/CoreBluetooth/Channels/ChannelEvents.swift": (1, "a lock makes each access whole"),
        "Sources/CoreBluetooth/Attributes/CBAttribute.swift": (1, "never changes"),
        "Sources/CoreBluetooth/Attributes/CBCharacteristic.swift": (1, "a lock makes each access whole"),
        "Sources/CoreBluetooth/Attributes/CBDescriptor.swift": (1, "a lock makes each access whole"),
        "Sources/CoreBluetooth/Attributes/CBMutableCharacteristic.swift": (1, "a lock makes each access whole"),
        "Sources/CoreBluetooth/Attributes/CBMutableDescriptor.swift": (1, "never changes"),
        "Sources/CoreBluetooth/Attributes/CBMutableService.swift": (1, "a lock makes each access whole"),
        "Sources/CoreBluetooth/Attributes/CBService.swift": (1, "a lock makes each access whole"),
        "Sources/CoreBluetooth/CBChannelSounding.swift": (2, "never changes"),
        "Sources/CoreBluetooth/CBL2CAPChannel.swift": (1, "never changes, and its streams share a lock"),
        "Sources/CoreBluetooth/CBManager.swift": (1, "a lock makes each access whole"),
        "Sources/CoreBluetooth/CBPeer.swift": (1, "never changes"),
        "Sources/CoreBluetooth/CBUUID.swift": (1, "never changes"),
        "Sources/CoreBluetooth/Central/CBCentralManager.swift": (1, "a lock makes each access whole"),
        "Sources/CoreBluetooth/Peripheral/CBPeripheral.swift": (1, "a lock makes each access whole"),
        "Sources/CoreBluetooth/PeripheralManager/CBATTRequest.swift": (1, "a lock makes each access whole"),
        "Sources/CoreBluetooth/PeripheralManager/CBCentral.swift": (1, "a lock makes each access whole"),
        "Sources/CoreBluetooth/PeripheralManager/CBPeripheralManager.swift": (1, "a lock makes each access whole"),
        "Sources/CoreBluetooth/Support/Protected.swift": (2, "a lock makes each access whole"),
        "Sources/CoreBluetooth/Support/ManagerReference.swift": (1, "set once, then used on the manager's queue"),
        "Sources/bled-bluez/BlueZService.swift": (1, "everything happens on the thread of its loop"),
        "Sources/bled-bluez/BusSocket.swift": (1, "everything happens on the thread of its loop"),
        "Sources/bled-bluez/ValuePipe.swift": (1, "everything happens on the thread of its loop"),
        "Sources/ble/Commands/Running/Interruption.swift": (1, "set before the signal handler, its only reader"),
        "Sources/ble/Commands/Running/GracefulShutdown.swift": (1, "set before the signal handler, its only reader"),
    ]
}

@Suite("Swift tokens")
struct SwiftTokenTests {
    @Test(
        "Comments are skipped, and strings are single tokens",
        arguments: [
            ("a // b", ["a"]),
            ("a /* b /* c */ d */ e", ["a", "e"]),
            (#"f("x\(g("y"))z") h"#, ["f", "(", #""x\(g("y"))z""#, ")", "h"]),
            (
                "let s = \"\"\"\n  \"quoted\" // no comment\n  \"\"\"\nend",
                ["let", "s", "=", "\"\"\"\n  \"quoted\" // no comment\n  \"\"\"", "end"]
            ),
            (##"#"a\("b"# c"##, [##"#"a\("b"#"##, "c"]),
            ("0...5", ["0", ".", ".", ".", "5"]),
            ("1.5 x0", ["1.5", "x0"]),
        ] as [(String, [String])]
    )
    func tokens(text: String, expected: [String]) {
        #expect(SwiftLexer.tokens(in: text).map(\.text) == expected)
    }

    @Test("A token knows its line, and whether it touches the previous token")
    func places() {
        let tokens = SwiftLexer.tokens(in: "a!\n b /*\n*/ c")
        #expect(tokens.map(\.line) == [1, 1, 2, 3])
        #expect(tokens.map(\.isGlued) == [false, true, false, false])
    }
}

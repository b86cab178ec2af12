import ArgumentParser
import BLEExplain
import BLERuntime
import BLESession
import BLESimulation
import CoreBluetooth
import NIOCore

struct Explore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explore",
        abstract: "Show devices, attributes, packets and calls live in a browser.",
        discussion: """
            Prints the address of a page, and serves it until interrupted. The page lists devices with their RSSI over \
            time; there you can connect to them, and read, write and subscribe to their attributes. It also shows the \
            packets and calls of this session, like “ble explain”, and, with a daemon, the apps that “ble apps” lists.

            Only programs on this machine can reach the page, unless --listen names another address. The page's \
            address contains a random token; anyone who has it can use the radio.

            Examples:
              BLUETOOTH_HOST=demo ble explore
              ble explore --port 8080
              ble explore --listen 192.0.2.7
            """
    )

    @Option(
        help: "TCP port of the page, 0 to 65535 (default: 0, which lets the system choose).",
        transform: Bounds(0...65_535).read
    )
    var port = 0
    @Option(help: ArgumentHelp("IP address to listen on.", valueName: "address"))
    var listen = "127.0.0.1"
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (try? NIOCore.SocketAddress(ipAddress: listen, port: port)) != nil else {
            throw ValidationError("--listen needs a numeric IP address, such as 127.0.0.1 or ::1.")
        }
    }

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        try await reportingErrors {
            let daemon = DaemonChoice.own.used
            let machine = DefaultLink.current as? Machine
            let recording: any RecordingSource =
                machine.map { WorldRecording(of: $0.world) } ?? HostRecording(ofDaemonAt: daemon)
            let feed = ExploreFeed(from: recording)
            let engine = SessionEngine { feed.add($0) }
            try await engine.start()
            let page = ExplainPage(liveWithTitle: "Bluetooth, live", isWorld: recording.isWorld)
            let server = try await ExploreServer(on: listen, port: port, page: page, engine: engine, feed: feed)
            let interruption = Interruption()
            let url = "http://\(ExploreAccess.host(of: listen)):\(server.port)/\(server.access.token)/"
            printer.print(Fact("listening", ["url": url], text: url))
            printer.remark("Open this address in a browser. Ctrl-C stops the server.")
            if !ExploreAccess.isLoopback(listen) {
                printer.remark("Other machines can open the page, too. The connection is not encrypted.")
            }
            let serving = Task { await server.run() }
            let apps = daemon.map { path in Task { await Self.follow(appsOfDaemonAt: path, feed) } }
            try await interruption.wait()
            apps?.cancel()
            engine.interrupt()
            await engine.close(because: .interrupted)
            await server.close()
            serving.cancel()
            await serving.value
        }
    }

    /// Adds the apps of the daemon to the feed whenever they change.
    @MainActor
    private static func follow(appsOfDaemonAt path: String, _ feed: ExploreFeed) async {
        var latest: [SessionInfo] = []
        while !Task.isCancelled {
            let answer = await Task.detached { try? DaemonQuery(at: path).ask(.apps) }.value
            if case .apps(let apps)? = answer, apps != latest {
                latest = apps
                feed.add(apps: apps.map(\.fact))
            }
            try? await Task.sleep(for: .seconds(2))
        }
    }
}

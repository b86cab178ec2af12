import BLERuntime

/// The command-line arguments of the benchmarks.
struct Arguments {
    /// An error: the arguments are invalid; ``reason`` says why.
    struct Mistake: Error {
        let reason: String
    }

    /// A measurement with its parameters.
    enum Task {
        case micro(MicroWorkload, operations: Int, MicroSurroundings)
        case facade(FacadeWorkload, operations: Int, FacadeRoute)
        case scale(devices: Int)
        case crowd(machines: Int)
        case crowdOfAdvertisers(Int)
        case gateways(count: Int)
        case connect(FirstSubscription)
        case links
        case idle
        case start
        case air(AirThroughput)
        case chatHour(seed: UInt64)
        case channel(octets: Int)
        case server(PeerBench)
        case client(PeerBench, [PeerWorkload], operations: Int, mtus: [Int])
        case direct(PeerBench, operations: Int)
    }

    /// Returns whether the arguments ask for help.
    static func askForHelp(_ arguments: some Sequence<String>) -> Bool {
        arguments.contains { ["--help", "-h"].contains($0) }
    }

    static let usage = """
        usage: BLEBenchmarks [--json]
               BLEBenchmarks [--json] micro [H1…H9 [OPERATIONS] [--links N]
                   [--pending N] [--advertisers N] [--clients N] [--characteristics N]
                   [--waiting N]]
               BLEBenchmarks [--json] facade [HF1…HF9 [OPERATIONS]] [--daemon]
               BLEBenchmarks scale [--devices N] | crowd [--machines N | --advertisers N]
                   | gateways [--count N] | chat-hour [--seed N] | channel [--octets N]
                   | connect | reconnect | links | air [--captures FOLDER] | idle | start
               BLEBenchmarks peer server --controller tcp:HOST:PORT|unix:PATH
               BLEBenchmarks peer client --controller tcp:HOST:PORT|unix:PATH
                   [--n N] [--workloads read,write,wcmd,notify,coc,disc]
                   [--mtus 23,247,517]
               BLEBenchmarks peer direct --controller tcp:HOST:PORT|unix:PATH [--n N]
        """

    /// The help text: the usage, the workloads, and examples.
    static let help = """
        \(usage)

        Without a workload, runs micro, facade, scale, crowd, chat-hour and channel, and
        prints one table that also shows the figures of NimBLE and Bumble, where known.
        micro and facade print a table unless --json is given; the others print JSON.

        workloads:
          micro      the host alone, between HCI packets and one client
            H1         advertising report in
            H2         server: read request in, response out
            H3         server: write request in, response out
            H4         server: write command in
            H5         server: notification out
            H6         client: notification in
            H7         client: read request out, response in
            H8         client: write request out, response in
            H9         client: write command out
          facade     HF1 to HF9: the same operations through the Core Bluetooth classes;
                     HF1-seen with advertising data that was seen before, HF6-alone
                     with one notification at a time
          scale      one scanner among N advertising controllers
          crowd      one scanning app among N advertising apps, each on its own machine;
                     then a host among 100000 devices, and its memory use; --advertisers
                     runs only the latter, among N devices
          gateways   N scanning gateways out of range of each other, on the main queue
                     and then on a queue of their own
          chat-hour  a simulated hour in a chat room with 8 machines and packet loss
          channel    one L2CAP channel with data in both directions, and its memory use
          connect    time from the start of a scan until the app is subscribed
          reconnect  time from a second connection request until the app is subscribed
          links      one machine with as many links as it supports
          air        share of a link's capacity that carries the data of apps
          idle       wake-ups of an idle world, and of a daemon with 200 idle apps
          start      time to the first line of ble scan; needs the program ble next to
                     this one
          peer       server and client in two processes, on controllers of any kind:
            read       sequential reads
            write      sequential writes with response
            wcmd       writes without response
            notify     notifications
            coc        data through an L2CAP channel
            disc       discovery of services and characteristics
          peer direct  reads through the host, without an app's queue and objects

        options:
          OPERATIONS how often to repeat (default: 100000)
          --json     print JSON, one object per line
          --links, --pending, --advertisers, --clients, --characteristics, --waiting
                     for micro: other state in the host during the measurement: links,
                     pending connections, known advertisers, apps that scan,
                     characteristics of the local server, values that wait to be sent
                     (defaults: 1, 0, 256, 1, 3, 0)
          --daemon   measure through the daemon
          --devices, --machines
                     the N of scale and crowd (default: 10, 100 and 1000)
          --count    the N of gateways (default: 1000)
          --seed     random seed of chat-hour (default: 1)
          --octets   octets in each direction of channel (default: 16777216)
          --captures also write the packets of each transfer to a file in FOLDER
          --n        operations for each workload except disc (default: 10000)
          --workloads
                     the workloads of peer client (default: all)
          --mtus     the MTUs to measure with, 23 to 517 (default: 23,247,517)

        examples:
          BLEBenchmarks micro H1 --clients 16        reports, with 16 apps that scan
          BLEBenchmarks facade HF7 20000             20000 reads by an app
          BLEBenchmarks --json scale --devices 100   100 advertising controllers

        exit status: 0 all results are valid, 1 a workload failed, 2 wrong usage
        """

    private static let operations = 100_000
    private static let devices = [10, 100, 1_000]
    private static let advertisers = 100_000
    private static let octets = 1 << 24
    /// The workloads whose results are compared by scripts.
    private static let worlds = [
        "scale", "crowd", "gateways", "chat-hour", "channel", "connect", "reconnect", "links", "air", "idle", "start",
        "peer",
    ]

    /// True if results are printed as JSON, one object per line.
    ///
    /// Always true for workloads that scripts compare.
    let isJSON: Bool
    let tasks: [Task]

    init(_ arguments: some Sequence<String>) throws(Mistake) {
        var words = Array(arguments)
        isJSON = words.contains("--json") || Self.worlds.contains(words.first ?? "")
        words.removeAll { $0 == "--json" }
        let rest = Array(words.dropFirst())
        switch words.first {
        case nil:
            tasks =
                MicroWorkload.allCases.map { .micro($0, operations: Self.operations, MicroSurroundings()) }
                + FacadeWorkload.allCases.map { .facade($0, operations: Self.operations, .direct) }
                + Self.devices.map { .scale(devices: $0) } + Self.devices.map { .crowd(machines: $0) }
                + [.chatHour(seed: 1), .channel(octets: Self.octets)]
        case "micro": tasks = try Self.micro(rest)
        case "facade": tasks = try Self.facade(rest)
        case "scale":
            tasks =
                try Self.option("--devices", in: rest, Bounds(1...65_536)).map { [.scale(devices: $0)] }
                ?? Self.devices.map { .scale(devices: $0) }
        case "crowd" where rest.first == "--advertisers":
            tasks = [
                .crowdOfAdvertisers(
                    try Self.option("--advertisers", in: rest, Bounds(1...200_000)) ?? Self.advertisers
                )
            ]
        case "crowd":
            tasks =
                try Self.option("--machines", in: rest, Bounds(1...65_536)).map { [.crowd(machines: $0)] }
                ?? Self.devices.map { .crowd(machines: $0) } + [.crowdOfAdvertisers(Self.advertisers)]
        case "gateways":
            tasks = [.gateways(count: try Self.option("--count", in: rest, Bounds(1...65_536)) ?? 1_000)]
        case "chat-hour": tasks = [.chatHour(seed: try Self.option("--seed", in: rest, Bounds(0...UInt64.max)) ?? 1)]
        case "channel":
            tasks = [.channel(octets: try Self.option("--octets", in: rest, Bounds(1...1 << 40)) ?? Self.octets)]
        case "connect": tasks = FirstSubscription.first.map { .connect($0) }
        case "reconnect": tasks = FirstSubscription.second.map { .connect($0) }
        case "links": tasks = [.links]
        case "idle": tasks = [.idle]
        case "start": tasks = [.start]
        case "air":
            let captures = try Self.value(of: "--captures", in: rest)
            tasks = AirThroughput.all(captures: captures).map { .air($0) }
        case "peer": tasks = [try Self.peer(rest)]
        case let word?: throw Mistake(reason: "“\(word)” is not a workload")
        }
    }

    /// Runs the measurements, one after the other.
    func run() -> [Result] {
        tasks.flatMap { task in
            switch task {
            case .micro(let workload, let operations, let surroundings):
                [workload.measure(operations: operations, among: surroundings)]
            case .facade(let workload, let operations, let route):
                [workload.measure(operations: operations, by: route)]
            case .scale(let devices): [Scale(devices: devices).measure()]
            case .crowd(let machines): [Crowd.measure(machines: machines)]
            case .crowdOfAdvertisers(let count): [ScanBench.measureCrowd(advertisers: count)]
            case .gateways(let count): Gateways.measure(gateways: count)
            case .connect(let workload): [workload.measure()]
            case .links: [Links.measure()]
            case .start: [Start.measure()]
            case .idle: [Idle.measureWorld(), Idle.measureDaemon()]
            case .air(let workload): [workload.measure()]
            case .chatHour(let seed): [ChatHour.measure(seed: seed)]
            case .channel(let octets): [ChannelTransfer.measure(octets: octets, seed: 1)]
            case .server(let bench): [bench.serve()]
            case .client(let bench, let workloads, let operations, let mtus):
                bench.ask(workloads, operations: operations, mtus: mtus)
            case .direct(let bench, let operations): [bench.readDirectly(operations: operations)]
            }
        }
    }

    private static func peer(_ words: [String]) throws(Mistake) -> Task {
        guard let role = words.first, ["server", "client", "direct"].contains(role) else {
            throw Mistake(reason: "peer needs server, client or direct")
        }
        var controller: SocketAddress?, operations = 10_000
        var workloads = PeerWorkload.allCases, mtus = [23, 247, 517]
        var rest = words.dropFirst()
        while let name = rest.popFirst() {
            guard let text = rest.popFirst() else { throw Mistake(reason: "\(name) needs a value") }
            let list = text.split(separator: ",").map(String.init)
            switch (name, role) {
            case ("--controller", _): controller = try Self.address(text)
            case ("--n", "client"), ("--n", "direct"): operations = try number(text, Bounds(1...100_000_000), of: name)
            case ("--mtus", "client"):
                mtus = try list.map { text throws(Mistake) in try number(text, Bounds(23...517), of: name) }
            case ("--workloads", "client"):
                workloads = try list.map { text throws(Mistake) in
                    guard let workload = PeerWorkload(rawValue: text) else {
                        throw Mistake(reason: "“\(text)” is not a workload of peer client")
                    }
                    return workload
                }
            default: throw Mistake(reason: "“\(name)” is not a valid argument here")
            }
        }
        guard let controller else { throw Mistake(reason: "--controller is missing") }
        let bench = PeerBench(controller: controller)
        return switch role {
        case "server": .server(bench)
        case "direct": .direct(bench, operations: operations)
        default: .client(bench, workloads, operations: operations, mtus: mtus)
        }
    }

    private static func address(_ text: String) throws(Mistake) -> SocketAddress {
        do throws(HostSpecification.Malformed) {
            if case .socket(let address) = try HostSpecification(text) { return address }
        } catch {
            throw Mistake(reason: "“\(text)” is not a controller (\(error.reason)); use tcp:HOST:PORT or unix:PATH")
        }
        throw Mistake(reason: "“\(text)” is not a controller; use tcp:HOST:PORT or unix:PATH")
    }

    private static func micro(_ words: [String]) throws(Mistake) -> [Task] {
        var rest = words[...], surroundings = MicroSurroundings(), operations = Self.operations
        var workloads = MicroWorkload.allCases
        if let name = rest.popFirst() {
            guard let workload = MicroWorkload(rawValue: name) else {
                throw Mistake(reason: "“\(name)” is not a workload")
            }
            workloads = [workload]
        }
        if let text = rest.first, !text.hasPrefix("--") {
            operations = try number(text, Bounds(1...1_000_000_000), of: "OPERATIONS")
            rest = rest.dropFirst()
        }
        while let name = rest.popFirst() {
            guard let option = MicroSurroundings.options.first(where: { $0.name == name }) else {
                throw Mistake(reason: "“\(name)” is not a valid argument here")
            }
            guard let text = rest.popFirst() else { throw Mistake(reason: "\(name) needs a value") }
            surroundings[keyPath: option.path] = try number(text, Bounds(option.range), of: name)
        }
        return workloads.map { .micro($0, operations: operations, surroundings) }
    }

    private static func facade(_ words: [String]) throws(Mistake) -> [Task] {
        let route = words.contains("--daemon") ? FacadeRoute.daemon : .direct
        var rest = words.filter { $0 != "--daemon" }[...]
        var operations = Self.operations, workloads = FacadeWorkload.allCases
        if let name = rest.popFirst() {
            guard let workload = FacadeWorkload(rawValue: name) else {
                throw Mistake(
                    reason: "“\(name)” is not a workload; the workloads are "
                        + FacadeWorkload.allCases.map(\.rawValue).joined(separator: ", ")
                )
            }
            workloads = [workload]
        }
        if let text = rest.popFirst() {
            operations = try number(text, Bounds(1...1_000_000_000), of: "OPERATIONS")
        }
        if let word = rest.first { throw Mistake(reason: "“\(word)” is not a valid argument here") }
        return workloads.map { .facade($0, operations: operations, route) }
    }

    private static func option<Number>(
        _ name: String,
        in words: [String],
        _ bounds: Bounds<Number>
    ) throws(Mistake) -> Number? {
        guard let text = try value(of: name, in: words) else { return nil }
        return try number(text, bounds, of: name)
    }

    /// Returns the value of the only option that is allowed; `nil` if it is not given.
    private static func value(of name: String, in words: [String]) throws(Mistake) -> String? {
        guard let first = words.first else { return nil }
        guard first == name, words.count == 2 else {
            throw Mistake(reason: "expected only “\(name) VALUE” here, not “\(words.joined(separator: " "))”")
        }
        return words[1]
    }

    private static func number<Number>(
        _ text: String,
        _ bounds: Bounds<Number>,
        of name: String
    ) throws(Mistake) -> Number {
        do throws(Bounds<Number>.Refusal) {
            return try bounds.read(text)
        } catch {
            throw Mistake(reason: "“\(text)” is invalid for \(name): \(error)")
        }
    }
}

import BLERuntime

/// What a run of the benchmarks is asked to do.
struct Arguments {
    /// Why the arguments make no sense.
    struct Mistake: Error {
        let reason: String
    }

    /// A kind of measurement.
    enum Task: Equatable {
        case micro(MicroWorkload, operations: Int)
        case scale(devices: Int)
        case chatHour(seed: UInt64)
        case channel(octets: Int)
    }

    static let usage = """
        usage: BLEBenchmarks [--json]
                   [micro [H1…H9 [OPERATIONS]] | scale [--devices N] | chat-hour [--seed N] | channel [--octets N]]
        Without a workload all of them run. A table is printed, but scale, chat-hour and channel print JSON.
        """

    private static let operations = 100_000
    private static let devices = [10, 100, 1_000]
    private static let octets = 1 << 24

    /// Whether to print one JSON object a line; always so for what scripts compare.
    let isJSON: Bool
    let tasks: [Task]

    init(_ arguments: some Sequence<String>) throws(Mistake) {
        var words = Array(arguments)
        isJSON = words.contains("--json") || ["scale", "chat-hour", "channel"].contains(words.first)
        words.removeAll { $0 == "--json" }
        let rest = Array(words.dropFirst())
        switch words.first {
        case nil:
            tasks =
                MicroWorkload.allCases.map { .micro($0, operations: Self.operations) }
                + Self.devices.map { .scale(devices: $0) } + [.chatHour(seed: 1), .channel(octets: Self.octets)]
        case "micro": tasks = try Self.micro(rest)
        case "scale":
            tasks =
                try Self.option("--devices", in: rest, Bounds(1...65_536)).map { [.scale(devices: $0)] }
                ?? Self.devices.map { .scale(devices: $0) }
        case "chat-hour": tasks = [.chatHour(seed: try Self.option("--seed", in: rest, Bounds(0...UInt64.max)) ?? 1)]
        case "channel":
            tasks = [.channel(octets: try Self.option("--octets", in: rest, Bounds(1...1 << 40)) ?? Self.octets)]
        case let word?: throw Mistake(reason: "'\(word)' is no workload")
        }
    }

    /// Does it, one after the other.
    func run() -> [Result] {
        tasks.map { task in
            switch task {
            case .micro(let workload, let operations): workload.measure(operations: operations)
            case .scale(let devices): Scale(devices: devices).measure()
            case .chatHour(let seed): ChatHour.measure(seed: seed)
            case .channel(let octets): ChannelTransfer.measure(octets: octets, seed: 1)
            }
        }
    }

    private static func micro(_ words: [String]) throws(Mistake) -> [Task] {
        guard let name = words.first else {
            return MicroWorkload.allCases.map { .micro($0, operations: Self.operations) }
        }
        guard let workload = MicroWorkload(rawValue: name) else { throw Mistake(reason: "'\(name)' is no workload") }
        guard words.count <= 2 else { throw Mistake(reason: "too many arguments") }
        guard words.count == 2 else { return [.micro(workload, operations: Self.operations)] }
        return [.micro(workload, operations: try number(words[1], Bounds(1...1_000_000_000), of: "OPERATIONS"))]
    }

    private static func option<Number>(
        _ name: String,
        in words: [String],
        _ bounds: Bounds<Number>
    ) throws(Mistake) -> Number? {
        guard let first = words.first else { return nil }
        guard first == name, words.count == 2 else { throw Mistake(reason: "'\(first)' is not understood") }
        return try number(words[1], bounds, of: name)
    }

    private static func number<Number>(
        _ text: String,
        _ bounds: Bounds<Number>,
        of name: String
    ) throws(Mistake) -> Number {
        do throws(Bounds<Number>.Refusal) {
            return try bounds.read(text)
        } catch {
            throw Mistake(reason: "'\(text)' is invalid for \(name): \(error)")
        }
    }
}

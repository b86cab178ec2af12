import BLEHost
import BLEWire

/// Work for the host alone: from HCI octets to the event that a client takes, or from its request to the HCI octets.
///
/// No socket, no queue, no facade. Two hosts first meet over the virtual radio, for real; then one of them is fed the
/// packets that it got there, again and again, and its buffers are returned as a controller would. The work of the peer
/// and of the radio is not in the figures.
enum MicroWorkload: String, CaseIterable {
    case advertisement = "H1"
    case readServed = "H2"
    case writeServed = "H3"
    case writeCommandServed = "H4"
    case notificationSent = "H5"
    case notificationReceived = "H6"
    case read = "H7"
    case write = "H8"
    case writeCommand = "H9"

    private var explanation: String {
        switch self {
        case .advertisement: "advertising report of 31 octets in, 16 a turn"
        case .readServed: "read request in, the app's 20 octets out"
        case .writeServed: "write request of 20 octets in, the app's response out"
        case .writeCommandServed: "write command of 20 octets in, 8 a turn"
        case .notificationSent: "notification of 20 octets out, 8 a turn"
        case .notificationReceived: "notification of 20 octets in, 8 a turn"
        case .read: "read request out, response in"
        case .write: "write request of 20 octets out, response in"
        case .writeCommand: "write command of 20 octets out, 8 a turn"
        }
    }

    /// Whether the host that is measured is that of the central.
    var isOfCentral: Bool {
        switch self {
        case .notificationReceived, .read, .write, .writeCommand: true
        case .advertisement, .readServed, .writeServed, .writeCommandServed, .notificationSent: false
        }
    }

    /// How many operations there are between two looks at what the host has to say.
    var batch: Int {
        switch self {
        case .advertisement: 16
        case .writeCommandServed, .notificationSent, .notificationReceived, .writeCommand: 8
        case .readServed, .writeServed, .read, .write: 1
        }
    }

    /// Does `operations`, rounded up to whole turns.
    func measure(operations: Int, among surroundings: MicroSurroundings) -> Result {
        let turns = (operations + batch - 1) / batch
        let done: Int
        let nanoseconds: Double
        var isRight = true
        if self == .advertisement {
            var bench = ScanBench(advertisers: surroundings.advertisers, clients: surroundings.clients)
            let stopwatch = Stopwatch(.processor)
            done = bench.run(turns: turns, batch: batch)
            nanoseconds = Double(stopwatch.nanoseconds)
        } else {
            var bench = AttributeBench(among: surroundings, asCentral: isOfCentral)
            let stopwatch = Stopwatch(.processor)
            done = bench.run(self, turns: turns, batch: batch)
            nanoseconds = Double(stopwatch.nanoseconds)
            if surroundings.waiting == 0 { isRight = bench.isRight(self, batch: batch) }
        }
        return Result(
            workload: rawValue,
            explanation: explanation,
            figures: [
                .init("operations", .count(done)),
                .init("ns", .number(nanoseconds / Double(max(done, 1)))),
            ],
            isGood: isRight && done == turns * batch * (self == .advertisement ? surroundings.clients : 1)
        )
    }
}

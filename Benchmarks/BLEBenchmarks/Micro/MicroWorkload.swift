import BLEHost
import BLEWire

/// A workload for the host only: from HCI octets to a client's event, or from a client's request to HCI octets.
///
/// There is no socket, no queue and no facade. Two hosts first connect over the virtual radio. Then one of them is fed
/// the packets that it received over the radio, again and again, and gets its buffers back as from a controller. The
/// results do not include the work of the peer and the radio.
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
        case .advertisement: "advertising report of 31 octets in, 16 per turn"
        case .readServed: "read request in, the app's 20 octets out"
        case .writeServed: "write request of 20 octets in, the app's response out"
        case .writeCommandServed: "write command of 20 octets in, 8 per turn"
        case .notificationSent: "notification of 20 octets out, 8 per turn"
        case .notificationReceived: "notification of 20 octets in, 8 per turn"
        case .read: "read request out, response in"
        case .write: "write request of 20 octets out, response in"
        case .writeCommand: "write command of 20 octets out, 8 per turn"
        }
    }

    /// True if the measured host is the central's.
    var isOfCentral: Bool {
        switch self {
        case .notificationReceived, .read, .write, .writeCommand: true
        case .advertisement, .readServed, .writeServed, .writeCommandServed, .notificationSent: false
        }
    }

    /// The number of operations in a turn, after which the host's outputs are processed.
    var batch: Int {
        switch self {
        case .advertisement: 16
        case .writeCommandServed, .notificationSent, .notificationReceived, .writeCommand: 8
        case .readServed, .writeServed, .read, .write: 1
        }
    }

    /// Measures a number of operations, rounded up to a multiple of ``batch``.
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

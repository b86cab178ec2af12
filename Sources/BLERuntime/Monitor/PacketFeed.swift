/// The output queue of one monitor, which drops and counts records if the monitor is too slow.
///
/// Once the queue has dropped a record, it drops all further ones until half of its room is free. It then adds a record
/// that says how many records have been dropped, before any other.
struct PacketFeed {
    /// The maximum number of waiting octets, unless another limit is given.
    static let usualLimit = 1 << 20

    private let limit: Int
    /// Returns a record that says how many records have been dropped since the beginning.
    private let lossRecord: (Int) -> [UInt8]
    private var octets: [UInt8]
    private var lost = 0
    private var reported = 0

    /// Creates a queue that starts with `beginning`, and drops records beyond `limit` waiting octets.
    ///
    /// `statement` returns a record that says how many records have been dropped since the beginning.
    init(beginning: [UInt8], limit: Int = usualLimit, statement: @escaping (Int) -> [UInt8]) {
        octets = beginning
        self.limit = limit
        self.lossRecord = statement
    }

    /// Adds a record, or drops it if too many octets are waiting.
    ///
    /// `pending` is the number of octets that were taken from the queue but have not been sent.
    mutating func add(_ record: [UInt8], pending: Int) {
        reportLoss(pending: pending)
        if lost == reported, octets.count + pending + record.count <= limit {
            octets += record
        } else {
            lost += 1
        }
    }

    /// Takes the octets that are to be sent now.
    ///
    /// `pending` is the number of octets that were taken earlier but have not been sent.
    mutating func take(pending: Int) -> [UInt8] {
        reportLoss(pending: pending)
        defer { octets.removeAll(keepingCapacity: octets.count <= 1 << 16) }
        return octets
    }

    /// If records have been dropped since the last report, and half of the queue's room is free, adds a record that
    /// says how many have been dropped in total.
    private mutating func reportLoss(pending: Int) {
        guard lost > reported, octets.count + pending <= limit / 2 else { return }
        octets += lossRecord(lost)
        reported = lost
    }
}

/// The output queue of one monitor, which drops and counts records when the monitor is too slow.
///
/// After records were dropped, none are added until there is enough room, and then the number of dropped ones is sent
/// first.
struct PacketFeed {
    /// The maximum number of waiting octets.
    static let usualLimit = 1 << 20

    private let limit: Int
    /// The record with the total number of dropped records.
    private let statement: (Int) -> [UInt8]
    private var octets: [UInt8]
    private var lost = 0
    private var reported = 0

    /// Creates a queue that starts with `beginning`.
    init(beginning: [UInt8], limit: Int = usualLimit, statement: @escaping (Int) -> [UInt8]) {
        octets = beginning
        self.limit = limit
        self.statement = statement
    }

    /// Adds a record, or drops it if too much is waiting.
    ///
    /// `pending` octets were taken and not sent yet.
    mutating func add(_ record: [UInt8], pending: Int) {
        reportLoss(pending: pending)
        if lost == reported, octets.count + pending + record.count <= limit {
            octets += record
        } else {
            lost += 1
        }
    }

    /// Takes the octets to send now.
    mutating func take(pending: Int) -> [UInt8] {
        reportLoss(pending: pending)
        defer { octets.removeAll(keepingCapacity: octets.count <= 1 << 16) }
        return octets
    }

    /// Adds the number of dropped records as soon as half of the room is free.
    private mutating func reportLoss(pending: Int) {
        guard lost > reported, octets.count + pending <= limit / 2 else { return }
        octets += statement(lost)
        reported = lost
    }
}

/// What one monitor is to be sent, and how much of it a monitor that does not keep up misses.
///
/// What does not fit is left out and counted. Nothing is added then until there is room for much, and before that is
/// said how much was left out.
struct PacketFeed {
    /// How many octets may wait, wherever they do.
    static let usualLimit = 1 << 20

    private let limit: Int
    /// The record that says how many were left out since the beginning.
    private let statement: (Int) -> [UInt8]
    private var octets: [UInt8]
    private var lost = 0
    private var told = 0

    /// Creates a feed that begins with `beginning`.
    init(beginning: [UInt8], limit: Int = usualLimit, statement: @escaping (Int) -> [UInt8]) {
        octets = beginning
        self.limit = limit
        self.statement = statement
    }

    /// Takes a record, or leaves it out if too much waits; `pending` octets were taken and have not been sent yet.
    mutating func add(_ record: [UInt8], pending: Int) {
        tellLoss(pending: pending)
        if lost == told, octets.count + pending + record.count <= limit {
            octets += record
        } else {
            lost += 1
        }
    }

    /// Takes out what is to be sent now.
    mutating func take(pending: Int) -> [UInt8] {
        tellLoss(pending: pending)
        defer { octets.removeAll(keepingCapacity: octets.count <= 1 << 16) }
        return octets
    }

    /// Says what was left out, as soon as half of all is free.
    private mutating func tellLoss(pending: Int) {
        guard lost > told, octets.count + pending <= limit / 2 else { return }
        octets += statement(lost)
        told = lost
    }
}

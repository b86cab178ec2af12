import CoreBluetooth

/// The unfinished line of each guest of a room.
struct GuestLines {
    /// The maximum number of guests with an unfinished line.
    ///
    /// When it is exceeded, the line to which nothing has been added for the longest time is dropped.
    static let mostGuests = 64

    private var unfinished: [(guest: UUID, lines: LineAssembler)] = []

    /// Adds octets that a guest has written, and returns the lines that they complete, without line ends.
    mutating func receive(_ octets: Data, from guest: UUID) -> [String] {
        var lines = LineAssembler()
        if let index = unfinished.firstIndex(where: { $0.guest == guest }) {
            lines = unfinished.remove(at: index).lines
        }
        let complete = lines.receive(octets)
        if !lines.isEmpty { unfinished.append((guest, lines)) }
        if unfinished.count > Self.mostGuests { unfinished.removeFirst() }
        return complete
    }

    /// Drops the lines of all guests except `guests`.
    mutating func keep(_ guests: [UUID]) { unfinished.removeAll { !guests.contains($0.guest) } }

    /// Drops the line of a guest.
    mutating func remove(_ guest: UUID) { unfinished.removeAll { $0.guest == guest } }
}

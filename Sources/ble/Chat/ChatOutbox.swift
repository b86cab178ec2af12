import CoreBluetooth

/// The messages of a room that have not been sent yet, in pieces that fit into notifications.
struct ChatOutbox {
    /// The number of unsent pieces at which messages of guests, and messages for one guest, are dropped.
    ///
    /// It is reached, for example, if a guest receives more slowly than another writes. The messages of the room's user
    /// are always added.
    static let mostPieces = 1_024

    private(set) var pieces: [(octets: Data, to: [CBCentral]?)] = []

    /// Adds a message in pieces of at most `length` octets; if `centrals` is `nil`, it is for all guests.
    ///
    /// `isOwn` is true for messages that the room's user has written.
    mutating func add(_ text: String, to centrals: [CBCentral]?, length: Int, isOwn: Bool) {
        guard isOwn || pieces.count < Self.mostPieces else { return }
        pieces += ChatRoom.pieces(of: text, length: length).map { ($0, centrals) }
    }

    /// Removes the first piece, which has been sent.
    mutating func removeFirst() { pieces.removeFirst() }

    /// Removes the messages for one guest.
    mutating func removeAll(for guest: UUID) {
        pieces.removeAll { $0.to?.contains { $0.identifier == guest } ?? false }
    }
}

import CoreBluetooth

/// Whom a command talks to: a name or the beginning of one, or an identifier as `ble scan` prints it.
struct PeerReference {
    /// How well a peripheral matches.
    enum Match { case exact, loose }

    let text: String
    var identifier: UUID? { UUID(uuidString: text) }

    /// How well something of this identifier and name matches; `nil` if it does not.
    ///
    /// A name that begins so, in whichever case of letters, matches as well as it can until an exact one is seen.
    func match(_ identifier: UUID, name: String?) -> Match? {
        if identifier == self.identifier || name == text { return .exact }
        guard !text.isEmpty, let name else { return nil }
        return name.lowercased().hasPrefix(text.lowercased()) ? .loose : nil
    }
}

/// Who was seen while somebody was looked for.
struct Search {
    /// How long to look for a name that is exactly right when one that begins so was seen.
    static let patience = Duration.seconds(1)

    let peer: PeerReference
    private(set) var exact: Sighting?
    /// Those that match in part, each once.
    private(set) var loose: [Sighting] = []
    /// The names of all others, each once, as they were seen.
    private(set) var others: [String] = []

    init(for peer: PeerReference) { self.peer = peer }

    /// Takes note of a peripheral; `true` if there is one that matches.
    mutating func see(_ sighting: Sighting) -> Bool {
        switch peer.match(sighting.peripheral.identifier, name: sighting.name) {
        case .exact: exact = sighting
        case .loose:
            if !loose.contains(where: { $0.peripheral === sighting.peripheral }) { loose.append(sighting) }
        case nil: if let name = sighting.name, !others.contains(name) { others.append(name) }
        }
        return exact != nil || !loose.isEmpty
    }

    /// Who was meant.
    ///
    /// - Throws: ``Trouble/ambiguous(_:_:)`` if it is one of several.
    func result() throws(Trouble) -> Sighting? {
        if let exact { return exact }
        guard loose.count < 2 else { throw .ambiguous(peer.text, loose.compactMap(\.name)) }
        return loose.first
    }
}

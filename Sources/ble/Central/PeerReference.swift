import CoreBluetooth
import CoreBluetoothExtras

/// The peripheral that a command uses: a name, the beginning of a name, an address, or an identifier as printed by
/// `ble scan`.
struct PeerReference {
    /// The quality of a match.
    enum Match { case exact, loose }

    let text: String
    var identifier: UUID? { UUID(uuidString: text) }

    /// True if the text has the form of an address, such as `C0:FF:EE:00:00:01`.
    var isAddress: Bool {
        let octets = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        return octets.count == 6
            && octets.allSatisfy { $0.count == 2 && $0.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit } }
    }

    /// Returns how well a peripheral with an identifier, name and address matches this reference; `nil` if it does not.
    ///
    /// An identifier or an address matches only identifiers or addresses: any device can choose another device's
    /// address as its name. `address` is `nil` if it is not known.
    func match(_ identifier: UUID, name: String?, address: String? = nil) -> Match? {
        if let wanted = self.identifier { return identifier == wanted ? .exact : nil }
        if isAddress { return address?.lowercased() == text.lowercased() ? .exact : nil }
        return match(name: name)
    }

    /// Returns how well a name matches the text; `nil` if it does not.
    ///
    /// A name that only begins with the text, ignoring case, is a loose match.
    func match(name: String?) -> Match? {
        if name == text { return .exact }
        guard !text.isEmpty, let name else { return nil }
        return name.lowercased().hasPrefix(text.lowercased()) ? .loose : nil
    }
}

/// The peripherals that a search has seen.
struct Search {
    /// The time for which a search goes on after a loose match, in case an exact match appears.
    static let timeout = Duration.seconds(1)

    let peer: PeerReference
    private(set) var exact: ScannedPeripheral?
    /// The peripherals that match loosely, each once.
    private(set) var loose: [ScannedPeripheral] = []
    /// The names of all other peripherals, each once, in the order in which they were seen.
    private(set) var others: [String] = []

    init(for peer: PeerReference) { self.peer = peer }

    /// Records a peripheral; returns true if it matches.
    mutating func see(_ sighting: ScannedPeripheral) -> Bool {
        let address = sighting.peripheral.bluetoothAddress.flatMap { $0.isHidden ? nil : "\($0)" }
        switch peer.match(sighting.peripheral.identifier, name: sighting.name, address: address) {
        case .exact: exact = sighting
        case .loose:
            if !loose.contains(where: { $0.peripheral === sighting.peripheral }) { loose.append(sighting) }
        case nil: if let name = sighting.name, !others.contains(name) { others.append(name) }
        }
        return exact != nil || !loose.isEmpty
    }

    /// Returns the peripheral that matches best; `nil` if none matches.
    ///
    /// - Throws: ``CommandError/ambiguous(_:_:)`` if no peripheral matches exactly, and several match loosely.
    func result() throws(CommandError) -> ScannedPeripheral? {
        if let exact { return exact }
        guard loose.count < 2 else { throw .ambiguous(peer.text, loose.compactMap(\.name)) }
        return loose.first
    }
}

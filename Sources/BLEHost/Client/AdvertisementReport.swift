package import BLEWire

/// An advertisement, and the scan response that came with it.
///
/// All who hear of it share what it says; if a device says the same again, the next report shares it, too.
package struct AdvertisementReport: Equatable, Sendable {
    private struct Facts: Equatable, Sendable {
        let peer: PeerIdentifier
        var address: DeviceAddress
        let isConnectable: Bool
        let octets: AdvertisementOctets
        let name: String?
        let packet: AdvertisementPacket
    }

    private final class Contents: Sendable {
        let facts: Facts
        init(_ facts: Facts) { self.facts = facts }
    }

    private let contents: Contents
    package let rssi: RSSI

    package var peer: PeerIdentifier { contents.facts.peer }
    /// Where the advertisement came from, for tools; apps never see it.
    package var address: DeviceAddress { contents.facts.address }
    package var isConnectable: Bool { contents.facts.isConnectable }
    /// The data of the two packets.
    package var octets: AdvertisementOctets { contents.facts.octets }
    /// The best name known: of the peer's GAP service, else of this or an earlier advertisement.
    package var name: String? { contents.facts.name }
    /// What the packet told beside its data.
    package var packet: AdvertisementPacket { contents.facts.packet }

    package init(
        peer: PeerIdentifier,
        address: DeviceAddress,
        isConnectable: Bool,
        rssi: RSSI,
        octets: AdvertisementOctets,
        name: String? = nil,
        packet: AdvertisementPacket = AdvertisementPacket()
    ) {
        let facts = Facts(
            peer: peer,
            address: address,
            isConnectable: isConnectable,
            octets: octets,
            name: name,
            packet: packet
        )
        self.init(Contents(facts), rssi)
    }

    private init(_ contents: Contents, _ rssi: RSSI) {
        self.contents = contents
        self.rssi = rssi
    }

    /// The same, heard with another strength.
    package func heard(_ rssi: RSSI) -> Self { Self(contents, rssi) }

    /// The same without where it came from.
    package var withoutAddress: Self {
        var facts = contents.facts
        facts.address = .none
        return Self(Contents(facts), rssi)
    }

    /// Whether this is known to say what `other` does: then it need not be looked into again.
    package func repeats(_ other: Self) -> Bool { contents === other.contents }

    package static func == (a: Self, b: Self) -> Bool {
        a.rssi == b.rssi && (a.contents === b.contents || a.contents.facts == b.contents.facts)
    }
}

package import BLEWire

/// An advertisement, and the scan response that came with it.
///
/// Copies of a report share their contents. If a device sends the same data again, its next report shares these
/// contents, too.
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
    /// The sender's address, for tools.
    ///
    /// Apps do not see it.
    package var address: DeviceAddress { contents.facts.address }
    package var isConnectable: Bool { contents.facts.isConnectable }
    /// The data of the advertisement and the scan response.
    package var octets: AdvertisementOctets { contents.facts.octets }
    /// The best known name: from the peer's GAP service, otherwise from this or an earlier advertisement; `nil` if none
    /// is known.
    package var name: String? { contents.facts.name }
    /// The properties of the packet other than its data.
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

    /// Returns the same report with another signal strength.
    package func withRSSI(_ rssi: RSSI) -> Self { Self(contents, rssi) }

    /// The report without the sender's address.
    package var withoutAddress: Self {
        var facts = contents.facts
        facts.address = .none
        return Self(Contents(facts), rssi)
    }

    /// Returns whether this report shares its contents with `other`.
    ///
    /// If it does not, the contents may still be equal.
    package func repeats(_ other: Self) -> Bool { contents === other.contents }

    package static func == (a: Self, b: Self) -> Bool {
        a.rssi == b.rssi && (a.contents === b.contents || a.contents.facts == b.contents.facts)
    }
}

/// A count of the advertising reports that an app has lost because it is too slow.
///
/// Losses are grouped into bursts, and a log has one line for each burst. A burst begins with a lost report. It ends
/// when the app has caught up twice without a loss in between: each time, the app has received everything that was
/// waiting for it.
package struct DroppedReports: Sendable {
    private enum Burst { case none, losing, recovering }

    /// The number of lost reports.
    package private(set) var total: UInt64 = 0
    private var burst = Burst.none

    package init() {}

    /// True from the first report of a burst to its end.
    package var isLosing: Bool { burst != .none }

    /// Records lost reports; returns true if a burst begins.
    package mutating func add(_ count: Int) -> Bool {
        guard count > 0 else { return false }
        total &+= UInt64(count)
        defer { burst = .losing }
        return burst == .none
    }

    /// Records that the app has received everything that was waiting for it.
    package mutating func caughtUp() { burst = burst == .losing ? .recovering : .none }
}

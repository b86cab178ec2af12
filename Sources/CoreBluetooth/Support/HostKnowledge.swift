import BLEHost
import BLERuntime

/// Information about one host, shared by all managers of the process.
///
/// It holds the features of the host, because apps can query them without a manager, and the discovered peers, because
/// apps can pass a peripheral from one manager to another by its identifier.
final class HostKnowledge: Sendable {
    private static let known = Protected(WeakTable<HostIdentity, HostKnowledge>())

    private let features = Protected(CBCentralManager.Feature())
    private let peers = Protected(SeenPeers())
    /// The link to the host, retained so that the object of another host cannot get the same identity.
    private let link: any HostLink

    private init(_ link: any HostLink) { self.link = link }

    /// Returns the information about the host behind `link`; it is empty until a central manager has received events.
    static func of(_ link: any HostLink) -> HostKnowledge {
        known.withLock { known in
            if let knowledge = known[link.host] { return knowledge }
            let knowledge = HostKnowledge(link)
            known[link.host] = knowledge
            return knowledge
        }
    }

    /// Records the host's features.
    func update(_ host: HostFeatures) { features.withLock { $0 = CBCentralManager.Feature(host) } }

    /// Returns whether the host has all of `wanted`.
    func includes(_ wanted: CBCentralManager.Feature) -> Bool { features.current.isSuperset(of: wanted) }

    /// Records a peer that a manager has discovered or that the host knows, and its name if there is one.
    func noteDiscovered(_ peer: PeerIdentifier, name: String?) { peers.withLock { _ = $0.insert(peer, name: name) } }

    /// Returns a recorded peer with its name; `nil` for any other peer.
    func peer(_ peer: PeerIdentifier) -> KnownPeer? {
        peers.withLock { $0.contains(peer) ? KnownPeer(peer: peer, name: $0.name(of: peer)) : nil }
    }
}

extension CBCentralManager.Feature {
    /// Converts to the features for apps.
    ///
    /// Distance measurement is never included.
    init(_ features: HostFeatures) {
        self = features.contains(.extendedScanAndConnect) ? .extendedScanAndConnect : []
    }
}

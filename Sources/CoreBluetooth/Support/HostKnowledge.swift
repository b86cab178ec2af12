import BLEHost
import BLERuntime

/// What the managers of a program know of one host together.
///
/// That is what the host can do, since apps ask for it without naming a manager, and whom any manager has met, since an
/// app hands a peripheral from one to another by its identifier.
final class HostKnowledge: Sendable {
    private static let known = Protected(WeakTable<HostIdentity, HostKnowledge>())

    private let features = Protected(CBCentralManager.Feature())
    private let peers = Protected(SeenPeers())
    /// Kept, so that no other host can come to have its identity.
    private let link: any HostLink

    private init(_ link: any HostLink) { self.link = link }

    /// What is known of the host behind `link`; nothing before a central manager was told of it.
    static func of(_ link: any HostLink) -> HostKnowledge {
        known.withLock { known in
            if let knowledge = known[link.host] { return knowledge }
            let knowledge = HostKnowledge(link)
            known[link.host] = knowledge
            return knowledge
        }
    }

    /// Takes what the host says that it can do.
    func update(_ host: HostFeatures) { features.withLock { $0 = CBCentralManager.Feature(host) } }

    /// Whether the host can do all of `wanted`.
    func includes(_ wanted: CBCentralManager.Feature) -> Bool { features.current.isSuperset(of: wanted) }

    /// A manager has met `peer`, or heard its name.
    func meet(_ peer: PeerIdentifier, name: String?) { peers.withLock { _ = $0.insert(peer, name: name) } }

    /// What is known of `peer`; `nil` if no manager has met it.
    func peer(_ peer: PeerIdentifier) -> KnownPeer? {
        peers.withLock { $0.contains(peer) ? KnownPeer(peer: peer, name: $0.name(of: peer)) : nil }
    }
}

extension CBCentralManager.Feature {
    /// What of it apps can ask for; measuring distances is not among what a host can do.
    init(_ features: HostFeatures) {
        self = features.contains(.extendedScanAndConnect) ? .extendedScanAndConnect : []
    }
}

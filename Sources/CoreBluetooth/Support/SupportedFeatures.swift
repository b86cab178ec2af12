import BLEHost
import BLERuntime

/// What a host has said that it can do, since apps ask for that without naming a manager.
final class SupportedFeatures: Sendable {
    private static let known = Protected(WeakTable<HostIdentity, SupportedFeatures>())

    private let features = Protected(CBCentralManager.Feature())
    /// Kept, so that no other host can come to have its identity.
    private let link: any HostLink

    private init(_ link: any HostLink) { self.link = link }

    /// What the host behind `link` can do; nothing before a central manager was told of it.
    static func of(_ link: any HostLink) -> SupportedFeatures {
        known.withLock { known in
            if let features = known[link.host] { return features }
            let features = SupportedFeatures(link)
            known[link.host] = features
            return features
        }
    }

    /// Takes what the host says.
    func update(_ host: HostFeatures) { features.withLock { $0 = CBCentralManager.Feature(host) } }

    /// Whether all of `wanted` is there.
    func include(_ wanted: CBCentralManager.Feature) -> Bool { features.current.isSuperset(of: wanted) }
}

extension CBCentralManager.Feature {
    /// What of it apps can ask for; measuring distances is not among what a host can do.
    init(_ features: HostFeatures) {
        self = features.contains(.extendedScanAndConnect) ? .extendedScanAndConnect : []
    }
}

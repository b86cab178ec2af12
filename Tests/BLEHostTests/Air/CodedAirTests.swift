import BLEController
import BLEWire
import Testing

@testable import BLEHost

/// Advertises on the PHYs that it was given.
private final class Beacon: App {
    private let broadcast: BroadcastRequest

    init(_ broadcast: BroadcastRequest) {
        self.broadcast = broadcast
        super.init(ClientID(rawValue: 1), .peripheral)
    }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        guard event == .stateChanged(.poweredOn) else { return [] }
        return [.server(.startAdvertising(.init(localName: "Far", broadcast: broadcast)))]
    }
}

/// Connects to the first that it hears.
private final class Listener: App {
    init() { super.init(ClientID(rawValue: 2), .central) }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        switch event {
        case .stateChanged(.poweredOn): [.scan(ScanRequest())]
        case .discovered(let report): report.isConnectable ? [.connect(report.peer, ConnectRequest())] : []
        default: []
        }
    }

    var heard: AdvertisementReport? {
        events.lazy.compactMap { if case .discovered(let report) = $0 { report } else { nil } }.first
    }

    /// On which PHYs its link has been said to be.
    var layers: [PHY] {
        events.compactMap { event in
            guard case .peer(_, .linkChanged(let details), _) = event else { return nil }
            return details.transmitPHY == details.receivePHY ? details.transmitPHY : nil
        }
    }

    var isConnected: Bool { events.contains { if case .connected = $0 { true } else { false } } }
}

@Suite("Advertisers on the Coded PHY")
struct CodedAirTests {
    private func meet(
        seed: UInt64,
        _ primary: PHY,
        listener profile: ControllerIdentity.Profile = .core5
    ) -> Listener {
        let town = Town(seed: seed, loss: 0.1), listener = Listener()
        var broadcast = BroadcastRequest()
        broadcast.isExtended = true
        (broadcast.primaryPHY, broadcast.secondaryPHY) = (primary, primary)
        _ = town.add(Beacon(broadcast))
        _ = town.add(listener, profile)
        town.run(for: .seconds(20)) { listener.layers.contains(primary) }
        return listener
    }

    @Test(
        "Advertisers on the Coded PHY are found and connected to like those on the 1M PHY",
        arguments: UInt64(0)..<16,
        [PHY.le1M, .leCoded]
    )
    func heard(seed: UInt64, phy: PHY) {
        let listener = meet(seed: seed, phy)
        #expect(listener.heard?.packet.primaryPHY == phy)
        #expect(listener.isConnected)
        #expect(listener.layers.contains { $0 == phy })
    }

    @Test("A controller without the Coded PHY does not receive advertisers on it")
    func unheard() {
        var profile = ControllerIdentity.Profile.core5
        profile.features.remove(.phyCoded)
        #expect(meet(seed: 1, .leCoded, listener: profile).heard == nil)
    }
}

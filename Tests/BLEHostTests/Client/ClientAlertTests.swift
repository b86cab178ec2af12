import BLEWire
import Testing

@testable import BLEHost

@Suite("Alerts shown for a sleeping app")
struct ClientAlertTests {
    private static let peer = PeerIdentifier(rawValue: 1), other = PeerIdentifier(rawValue: 2)

    private static func connect(_ peer: PeerIdentifier, _ alerts: ConnectionAlerts) -> ClientRequest {
        .connect(peer, ConnectRequest(startDelay: .zero, alerts: alerts))
    }

    private static let events: [(ClientEvent, ConnectionAlerts, ClientAlert.Occasion)] = [
        (.connected(peer, LinkParameters(mtu: 23)), .connection, .connection),
        (.disconnected(peer, .timedOut, isReconnecting: false), .disconnection, .disconnection),
        (.disconnected(peer, .timedOut, isReconnecting: true), .disconnection, .disconnection),
        (.peer(peer, .valueNotified(AttributeHandle(wire: 3), [1])), .notification, .notification),
    ]

    @Test("An alert is shown only for the events that the app requested", arguments: events)
    func occasions(event: ClientEvent, wish: ConnectionAlerts, occasion: ClientAlert.Occasion) {
        for alerts: ConnectionAlerts in [.connection, .disconnection, .notification] {
            var wishes = RequestedAlerts()
            wishes.note(Self.connect(Self.peer, alerts))
            #expect(wishes.occasion(of: event)?.0 == (alerts == wish ? occasion : nil))
            wishes.note(Self.connect(Self.other, alerts))
            wishes.note(.cancelConnection(Self.peer))
            #expect(wishes.occasion(of: event) == nil)
        }
    }

    @Test("No alert is shown for what the app did itself or for other events")
    func nothing() {
        var wishes = RequestedAlerts()
        wishes.note(Self.connect(Self.peer, [.connection, .disconnection, .notification]))
        let events: [ClientEvent] = [
            .disconnected(Self.peer, nil, isReconnecting: false), .connectFailed(Self.peer, .timedOut),
            .peer(Self.peer, .writeCommandsTaken(1)), .stateChanged(.poweredOff),
            .connected(Self.other, LinkParameters(mtu: 23)),
        ]
        for event in events { #expect(wishes.occasion(of: event) == nil, "\(event)") }
        wishes.note(Self.connect(Self.peer, []))
        #expect(wishes == RequestedAlerts())
    }

    @Test("Alerts requested by an earlier launch of the app are shown too")
    func restored() {
        var wishes = RequestedAlerts()
        let request = ConnectRequest(startDelay: .zero, alerts: .disconnection)
        let peer = PreservedPeer(peer: Self.peer, request: request, name: nil, mtu: 23, validEvents: [])
        wishes.note(.restored(.central(PreservedCentral(scan: nil, peers: [peer]))))
        #expect(wishes.occasion(of: .disconnected(Self.peer, .timedOut, isReconnecting: false)) != nil)
    }

    @Test("Alerts are limited to a number of peers, however many the app requests")
    func limit() {
        var wishes = RequestedAlerts()
        for number in 0...UInt128(RequestedAlerts.mostPeers) {
            wishes.note(Self.connect(PeerIdentifier(rawValue: number), .connection))
        }
        let last = PeerIdentifier(rawValue: UInt128(RequestedAlerts.mostPeers))
        #expect(wishes.occasion(of: .connected(Self.peer, LinkParameters(mtu: 23))) != nil)
        #expect(wishes.occasion(of: .connected(last, LinkParameters(mtu: 23))) == nil)
    }

    @Test(
        "The alert text names the app and the device",
        arguments: [("Scale", "“Scale”"), (nil, "an unnamed device")]
    )
    func sentence(name: String?, told: String) {
        let texts = ClientAlert.Occasion.allCases.map { ClientAlert($0, of: "Fit", with: Self.peer, called: name).text }
        #expect(
            texts == [
                "Fit is connected to \(told).", "Fit lost its connection to \(told).",
                "Fit received a notification from \(told).",
            ]
        )
    }
}

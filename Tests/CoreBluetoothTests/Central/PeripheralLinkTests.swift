import BLEHost
import Testing

@testable import CoreBluetooth

@Suite("Peripheral link")
struct PeripheralLinkTests {
    /// What can happen to a link.
    enum Step: CaseIterable {
        case connect, confirm, cancel, connected, failed, disconnected, lost, lostReconnecting, radioLost
    }

    private func apply(_ step: Step, to link: inout PeripheralLink) {
        switch step {
        case .connect: _ = link.connect(ConnectRequest())
        case .confirm: _ = link.confirm()
        case .cancel: _ = link.cancel()
        case .connected: _ = link.connected()
        case .failed: _ = link.failed()
        case .disconnected: _ = link.disconnected(wanted: true, isReconnecting: false)
        case .lost: _ = link.disconnected(wanted: false, isReconnecting: false)
        case .lostReconnecting:
            _ = link.disconnected(wanted: false, isReconnecting: true)
            link.reconnect()
        case .radioLost: link.radioLost()
        }
    }

    @Test(
        "Each event leads to the expected state",
        arguments: [
            ([], CBPeripheralState.disconnected), ([.connect], .connecting), ([.connect, .failed], .disconnected),
            ([.connect, .cancel], .disconnected), ([.connect, .cancel, .connected], .disconnected),
            ([.connect, .cancel, .connect], .connecting), ([.connect, .connected], .connected),
            ([.connect, .connected, .connect], .connected),
            ([.connect, .connected, .connect, .confirm], .connected), ([.connect, .confirm], .connecting),
            ([.connect, .connected, .connect, .cancel, .confirm], .disconnecting),
            ([.connect, .connected, .connect, .lost, .confirm], .disconnected),
            ([.connect, .connected, .connect, .lostReconnecting], .connecting),
            ([.connect, .connected, .cancel], .disconnecting),
            ([.connect, .connected, .cancel, .connect], .connecting),
            ([.connect, .connected, .cancel, .connect, .cancel], .disconnecting),
            ([.connect, .connected, .cancel, .connect, .disconnected], .connecting),
            ([.connect, .connected, .lost], .disconnected), ([.connect, .connected, .lostReconnecting], .connecting),
            ([.connect, .connected, .lostReconnecting, .connected], .connected),
            ([.connect, .lost], .disconnected), ([.connect, .disconnected], .connecting),
            ([.connected], .disconnected), ([.connect, .connected, .radioLost], .disconnected),
            ([.connect, .radioLost, .connect], .connecting),
        ] as [([Step], CBPeripheralState)]
    )
    func states(steps: [Step], expected: CBPeripheralState) {
        var link = PeripheralLink()
        for step in steps { apply(step, to: &link) }
        #expect(link.publicState == expected)
        #expect(link.acceptsRequests == (expected == .connected))
    }

    @Test("A request for the existing connection is confirmed once, however often it is repeated")
    func confirming() {
        var link = PeripheralLink(isConnected: true)
        let early = link.confirm()
        #expect(early == .nothing)
        let asked = [link.connect(ConnectRequest()), link.connect(ConnectRequest())]
        #expect(asked == [.renewAndConfirm, .nothing])
        #expect(link.acceptsRequests && link.acceptsAnswers)
        let told = [link.confirm(), link.confirm()]
        #expect(told == [.callDelegate, .nothing])
        let again = link.connect(ConnectRequest())
        #expect(again == .confirm)
    }

    @Test("A request with other options is forwarded to the host")
    func renewing() {
        let other = ConnectRequest(reconnects: true)
        var link = PeripheralLink()
        let pending = [link.connect(ConnectRequest()), link.connect(other), link.connect(other)]
        #expect(pending == [.send, .renew, .nothing])
        _ = link.connected()
        let connected = [link.connect(other), link.connect(ConnectRequest()), link.connect(ConnectRequest())]
        #expect(connected == [.confirm, .renew, .nothing])
        _ = link.confirm()
        #expect(link.connect(other) == .renewAndConfirm)
        link = PeripheralLink(isConnected: false)
        #expect(link.connect(ConnectRequest()) == .renew, "nobody knows how an earlier launch asked")
    }

    @Test("In every state, cancelling and the host's confirmation lead to disconnected")
    func rest() {
        var reached: [PeripheralLink] = [PeripheralLink()]
        var next = 0
        while next < reached.count {
            for step in Step.allCases {
                var link = reached[next]
                apply(step, to: &link)
                if !reached.contains(link) { reached.append(link) }
            }
            next += 1
        }
        #expect(reached.count == 8)
        for var link in reached {
            _ = link.cancel()
            _ = link.disconnected(wanted: true, isReconnecting: false)
            #expect(link == PeripheralLink())
        }
    }
}

import BLEWire
import Testing

@testable import BLEHost

/// What becomes of a link whose peer leaves an ATT request unanswered, which this host ends for that.
@Suite("Peers that do not respond")
struct TransactionTimeoutTests {
    let address = DeviceAddress(0xC0FF_EE00_0001, .random)
    let value = AttributeHandle(wire: 9)

    /// A rig with two clients that are connected to a peer which answers nothing but how long its packets are; the
    /// first has asked for a value, and the time for the answer is over.
    func makeRig(_ request: ConnectRequest = ConnectRequest()) -> (Rig, PeerIdentifier) {
        let rig = Rig.ready()
        rig.peer = { request in
            if case .exchangeMTURequest = request { .exchangeMTUResponse(.init(serverMTU: 23)) } else { nil }
        }
        rig.host.open(Rig.otherCentral, role: .central, at: rig.now)
        let peer = rig.discover(address)
        rig.perform(.connect(peer, request))
        rig.connect(address)
        rig.perform(.connect(peer, ConnectRequest()), for: Rig.otherCentral)
        rig.forget()
        rig.perform(.peer(peer, .read(value)))
        rig.perform(.peer(peer, .write(value, [1])), for: Rig.otherCentral)
        rig.advance(by: .milliseconds(29_999))
        #expect(rig.events.isEmpty && rig.commands.isEmpty)
        rig.advance(by: .milliseconds(1))
        #expect(rig.commands.map(\.opcode) == [.disconnect])
        #expect(rig.events(of: Rig.central) == [.peer(peer, .valueRead(value, .failure(.timedOut)))])
        #expect(rig.events(of: Rig.otherCentral) == [.peer(peer, .valueWritten(value, .timedOut))])
        rig.forget()
        return (rig, peer)
    }

    /// What a client heard, but for which links there are.
    func told(_ rig: Rig, _ client: ClientID = Rig.central) -> [ClientEvent] {
        rig.events(of: client).filter { if case .systemLinks = $0 { false } else { true } }
    }

    @Test(
        "All clients of the link receive the timeout error, unless the link ended for another reason first",
        arguments: [
            (HCI.Status.connectionTerminatedByLocalHost, Failure.timedOut),
            (.connectionTimeout, .hci(.connectionTimeout)),
            (.remoteUserTerminatedConnection, .hci(.remoteUserTerminatedConnection)),
        ]
    )
    func reasons(reason: HCI.Status, failure: Failure) {
        let (rig, peer) = makeRig()
        rig.disconnect(reason: reason)
        for client in [Rig.central, Rig.otherCentral] {
            #expect(told(rig, client) == [.disconnected(peer, failure, isReconnecting: false)])
        }
    }

    @Test("All clients receive the timeout error even if the controller no longer knows the link")
    func unknownLink() {
        let rig = Rig.ready()
        rig.controller.refused[HCI.Opcode.disconnect.wire] = .unknownConnectionIdentifier
        rig.peer = { request in
            if case .exchangeMTURequest = request { .exchangeMTUResponse(.init(serverMTU: 23)) } else { nil }
        }
        let peer = rig.discover(address)
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(address)
        rig.forget()
        rig.perform(.peer(peer, .read(value)))
        rig.advance(by: .seconds(30))
        #expect(
            told(rig) == [
                .peer(peer, .valueRead(value, .failure(.timedOut))),
                .disconnected(peer, .timedOut, isReconnecting: false),
            ]
        )
    }

    @Test("A request made before the link has ended is answered before the end is reported")
    func late() {
        let (rig, peer) = makeRig()
        rig.perform(.peer(peer, .read(value)))
        rig.disconnect(reason: .connectionTerminatedByLocalHost)
        #expect(
            told(rig) == [
                .peer(peer, .valueRead(value, .failure(.timedOut))),
                .disconnected(peer, .timedOut, isReconnecting: false),
            ]
        )
    }

    @Test("A client that cancels in the meantime receives no error, and one that asked to reconnect is reconnected")
    func wanted() {
        let (rig, peer) = makeRig(ConnectRequest(reconnects: true))
        rig.perform(.cancelConnection(peer), for: Rig.otherCentral)
        rig.disconnect(reason: .connectionTerminatedByLocalHost)
        #expect(told(rig) == [.disconnected(peer, .timedOut, isReconnecting: true)])
        #expect(told(rig, Rig.otherCentral) == [.disconnected(peer, nil, isReconnecting: false)])
        #expect(rig.commands.last?.opcode == .leCreateConnection)
    }
}

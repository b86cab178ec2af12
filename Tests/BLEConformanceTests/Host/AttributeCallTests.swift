import BLEHost
import BLEWire
import Testing

@testable import BLEConformance

@Suite("host: attributes of peers")
struct AttributeCallTests {
    static let peer = PeerIdentifier(rawValue: 7)
    static let handle = AttributeHandle(wire: 3)

    /// A conversation with a link that the peer made.
    private func begin() throws -> HostConversation {
        var conversation = HostConversation()
        conversation.receive(.stateChanged(.poweredOn))
        let link = RadioLink(
            handle: try #require(ConnectionHandle(wire: 5)),
            peer: Self.peer,
            address: DeviceAddress(1, .public),
            role: .peripheral
        )
        conversation.receive(.tester(.linkMade(link)))
        _ = conversation.takeOutputs()
        return conversation
    }

    private func requests(_ outputs: [HostConversation.Output]) -> [ClientRequest] {
        outputs.compactMap { if case .request(let request) = $0 { request } else { nil } }
    }

    @Test("The first request joins the link, and later requests are sent once it has joined")
    func joining() throws {
        var conversation = try begin()
        conversation.receive(#"{"id": 1, "op": "read", "connection": 5, "handle": 3}"#)
        conversation.receive(
            #"{"id": 2, "op": "write", "connection": 5, "handle": 3, "value": "0102", "response": false}"#
        )
        #expect(conversation.takeOutputs() == [.request(.connect(Self.peer, ConnectRequest()))])
        conversation.receive(.connected(Self.peer, LinkParameters(mtu: 23)))
        let sent = conversation.takeOutputs()
        #expect(
            requests(sent) == [
                .peer(Self.peer, .read(Self.handle), RequestNumber(rawValue: 1)),
                .peer(Self.peer, .writeCommand(Self.handle, [1, 2]), RequestNumber(rawValue: 2)),
            ]
        )
        #expect(sent.contains(.line(.result(2))))
        let value = PeerEvent.valueRead(Self.handle, .success([7]))
        conversation.receive(.peer(Self.peer, value, answering: RequestNumber(rawValue: 1)))
        #expect(conversation.takeOutputs() == [.line(.result(1, ["value": .text("07")]))])
    }

    @Test("An error from a peer starts with its ATT error code")
    func refusal() throws {
        var conversation = try begin()
        conversation.receive(#"{"id": 1, "op": "write", "connection": 5, "handle": 3, "value": ""}"#)
        conversation.receive(.connected(Self.peer, LinkParameters(mtu: 23)))
        _ = conversation.takeOutputs()
        let refusal = PeerEvent.valueWritten(Self.handle, .att(.writeNotPermitted))
        conversation.receive(.peer(Self.peer, refusal, answering: RequestNumber(rawValue: 1)))
        #expect(conversation.takeOutputs() == [.line(.failure(1, "ATT 0x03: Write Not Permitted"))])
    }

    @Test("A refusal when there is no question cancels the pairing, and the failure is reported")
    func cancelling() throws {
        var conversation = try begin()
        let refusal = #"{"id": 1, "op": "pairing_reply", "connection": 5, "confirm": false}"#
        conversation.receive(refusal)
        #expect(requests(conversation.takeOutputs()) == [.security(.answer(Self.peer, .cancel))])
        let inquiry = PairingInquiry(peer: Self.peer, name: nil, question: .compare(123_456), cause: .peer)
        conversation.receive(.security(.asked(inquiry)))
        conversation.receive(refusal)
        #expect(requests(conversation.takeOutputs()) == [.security(.answer(Self.peer, .confirm(false)))])
        conversation.receive(refusal)
        #expect(requests(conversation.takeOutputs()) == [.security(.answer(Self.peer, .cancel))])
        conversation.receive(.security(.failed(Self.peer, .timedOut)))
        let event = HostLine.event(
            "pairing_failed",
            ["connection": .number(5), "reason": .text("\(PairingFailure.timedOut)")]
        )
        #expect(conversation.takeOutputs() == [.line(event)])
    }
}

import BLEHost
import BLEWire
import Testing

@testable import BLEConformance

@Suite("host")
struct HostConversationTests {
    /// A conversation whose host is ready.
    private func begin() -> HostConversation {
        var conversation = HostConversation()
        conversation.receive(.stateChanged(.poweredOn))
        return conversation
    }

    private func outputs(
        _ conversation: inout HostConversation,
        _ line: String
    ) -> [HostConversation.Output] {
        conversation.receive(line)
        return conversation.takeOutputs()
    }

    @Test(
        "A request means the same under op, under do, and as its own key",
        arguments: [
            #"{"id": 1, "op": "connect", "address": "060504030201", "address_type": 1}"#,
            #"{"id": 1, "do": {"op": "connect", "address": "060504030201", "address_type": 1}}"#,
            #"{"id": 1, "connect": {"address": "060504030201", "address_type": 1}}"#,
        ]
    )
    func forms(line: String) {
        var conversation = begin()
        let address = DeviceAddress(0x0102_0304_0506, .random)
        #expect(outputs(&conversation, line) == [.request(.tester(.find(address)))])
    }

    @Test("Requests that arrive before the controller is ready run in order once it is")
    func early() {
        var conversation = HostConversation()
        #expect(outputs(&conversation, #"{"id": 1, "op": "read_local_address"}"#).isEmpty)
        #expect(outputs(&conversation, #"{"id": 2, "op": "stop_scan"}"#).isEmpty)
        conversation.receive(.stateChanged(.poweredOn))
        let expected: [HostConversation.Output] = [
            .request(.tester(.readLocalAddress)), .request(.tester(.stopListening)), .line(.result(2)),
        ]
        #expect(conversation.takeOutputs() == expected)
    }

    @Test(
        "Without a controller, each request fails with an error that says so",
        arguments: [HostState.unsupported, .poweredOff]
    )
    func noController(state: HostState) {
        var conversation = HostConversation()
        conversation.receive(#"{"id": 1, "op": "read_local_address"}"#)
        conversation.receive(.stateChanged(state))
        conversation.receive(#"{"id": 2, "op": "read_local_address"}"#)
        let reason = "the controller cannot be used: \(state)"
        #expect(conversation.takeOutputs() == [.line(.failure(1, reason)), .line(.failure(2, reason))])
    }

    @Test("When the controller is lost, its links are reported as lost and requests that wait for them fail")
    func lost() throws {
        var conversation = begin()
        let handle = try #require(ConnectionHandle(wire: 5)), peer = PeerIdentifier(rawValue: 7)
        let address = DeviceAddress(1, .public)
        let link = RadioLink(handle: handle, peer: peer, address: address, role: .central)
        conversation.receive(.tester(.linkMade(link)))
        conversation.receive(#"{"id": 1, "op": "secure", "connection": 5, "level": 3}"#)
        conversation.receive(#"{"id": 2, "op": "read_local_address"}"#)
        _ = conversation.takeOutputs()
        conversation.receive(.stateChanged(.resetting))
        let lines = conversation.takeOutputs().compactMap { output -> HostLine? in
            if case .line(let line) = output { line } else { nil }
        }
        #expect(lines.count == 3)
        #expect(lines.first == .event("disconnected", ["connection": .number(5), "reason": .number(0x16)]))
        #expect(lines.last == .failure(2, "the controller cannot be used: resetting"))
    }

    @Test(
        "The strength of the key decides the security level of the link",
        arguments: [(false, true, 16, 2), (true, false, 16, 3), (true, true, 16, 4), (true, true, 15, 3)]
    )
    func levels(isAuthenticated: Bool, isSecureConnections: Bool, keySize: Int, level: Int) throws {
        var conversation = begin()
        let handle = try #require(ConnectionHandle(wire: 5)), peer = PeerIdentifier(rawValue: 7)
        conversation.receive(
            .tester(.linkMade(.init(handle: handle, peer: peer, address: DeviceAddress(1, .public), role: .central)))
        )
        _ = outputs(&conversation, #"{"id": 1, "op": "secure", "connection": 5, "level": 3}"#)
        let strength = PairingStrength(
            keySize: keySize,
            isAuthenticated: isAuthenticated,
            isSecureConnections: isSecureConnections
        )
        conversation.receive(.security(.secured(peer, strength, isBonded: true)))
        let answer: HostLine =
            level < 3 ? .failure(1, "the link reached only level 2") : .result(1, ["level": .number(level)])
        let event = HostLine.event(
            "security",
            ["connection": .number(5), "level": .number(level), "bonded": .flag(true)]
        )
        #expect(conversation.takeOutputs() == [.line(event), .line(answer)])
    }
}

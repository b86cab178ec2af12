import BLEHost
import BLEWire
import Testing

@testable import BLEDaemon

@Suite("What passes between an app and a host")
struct SessionGateTests {
    private static let peer = PeerIdentifier(rawValue: 1)

    @Test(
        "Pairing is answered for other apps by those alone who may be agents, in whichever role they came",
        arguments: [SecurityRequest.attend(.displayYesNo), .answer(peer, .confirm(true))]
    )
    func agent(request: SecurityRequest) {
        let gate = SessionGate(Grant(roles: [.central], origin: "P"))
        #expect(gate.refusal(of: .security(request)) == "P does not allow it to be an agent")
        #expect(gate.refusal(of: .security(.pair(Self.peer))) == nil)
        #expect(SessionGate(Grant(roles: [.central, .agent], origin: "P")).refusal(of: .security(request)) == nil)
    }
}

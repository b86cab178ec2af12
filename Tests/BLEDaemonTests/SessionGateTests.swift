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

    @Test("An app that is launched again learns the addresses of its peers if it may see them", arguments: [true, false])
    func restoredAddress(isSeen: Bool) throws {
        let details = LinkDetails(address: DeviceAddress(0xC0FF_EE00_0001, .random))
        let learnt: [PeerEvent] = [.mtuChanged(23), .linkChanged(details)]
        let kept = PreservedPeer(peer: Self.peer, request: ConnectRequest(), name: nil, mtu: 23, learnt: learnt)
        var gate = SessionGate(Grant(seesAddresses: isSeen, origin: "P"))
        guard case .restored(.central(let central)) = gate.admit(.restored(.central(PreservedCentral(peers: [kept])))),
            case .linkChanged(let told)? = central.peers.first?.learnt.last
        else {
            Issue.record("nothing is restored")
            return
        }
        #expect((told.address == details.address) == isSeen)
        #expect(isSeen || told.address == .none)
    }
}

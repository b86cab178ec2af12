import BLEHost
import BLEWire
import Testing

@testable import BLEDaemon

@Suite("Requests and the roles of sessions")
struct RoleTests {
    @Test("The list of requests covers every kind of request")
    func kinds() {
        let all = EveryRequest.all + [.tester(.reset)]
        #expect(all.count == 46)
        #expect(Set(EveryRequest.roles) == [.central, .peripheral, .agent])
    }

    @Test("A session may make only the requests of its own role, even if its app may use every role")
    func gate() {
        for role in EveryRequest.roles {
            let gate = SessionFilter(Grant(origin: "P"), for: role)
            for request in EveryRequest.all + [.tester(.reset)] {
                let isAllowed = EveryRequest.roles(for: request).contains(role)
                #expect((gate.refusal(of: request) == nil) == isAllowed, "\(request) of a \(role)")
            }
        }
    }

    @Test("A session that has not stated its role may make no requests")
    func noRole() {
        let gate = SessionFilter(Grant(origin: "P"), for: nil)
        for request in EveryRequest.all { #expect(gate.refusal(of: request) != nil, "\(request)") }
    }

    @Test("A refusal names the rule that does not allow the other role", arguments: EveryRequest.roles)
    func sentence(role: ClientRole) {
        let gate = SessionFilter(Grant(roles: [role], origin: "rule 1"), for: role)
        for request in EveryRequest.all where !EveryRequest.roles(for: request).contains(role) {
            #expect(gate.refusal(of: request)?.hasPrefix("rule 1 does not allow the role ") == true, "\(request)")
        }
    }

    @Test("A session may make no requests once its grant no longer allows its role", arguments: EveryRequest.roles)
    func revoked(role: ClientRole) {
        var gate = SessionFilter(Grant(origin: "P"), for: role)
        _ = gate.apply(Grant(roles: EveryRequest.roles.filter { $0 != role }, origin: "Q"))
        for request in EveryRequest.all { #expect(gate.refusal(of: request) != nil, "\(request)") }
    }

    @Test("A host refuses requests of other roles without any effect")
    func host() {
        for role in EveryRequest.roles {
            for request in EveryRequest.all + [.tester(.reset)] {
                var host = Host(configuration: .init(identifierSecret: 1), random: SystemRandomNumberGenerator())
                let client = ClientID(rawValue: 1)
                host.open(client, role: role, at: Instant())
                while host.next() != nil {}
                host.perform(request, for: client, at: Instant())
                var isRefused = false
                while let output = host.next() {
                    if output == .note(.wrongRole(client, role)) { isRefused = true }
                }
                #expect(isRefused != EveryRequest.roles(for: request).contains(role), "\(request) of a \(role)")
            }
        }
    }

    @Test("A host allows a test suite to make every request")
    func tester() {
        for request in EveryRequest.all + [.tester(.reset)] { #expect(request.isAllowed(to: .tester), "\(request)") }
    }
}

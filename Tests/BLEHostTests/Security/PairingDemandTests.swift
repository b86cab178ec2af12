import BLEWire
import Testing

@testable import BLEHost

@Suite("Apps' pairing policies")
struct PairingDemandTests {
    private static let mine = ClientOwner(user: 1, process: 1, isAdministrator: false)
    private static let theirs = ClientOwner(user: 2, process: 2, isAdministrator: false)
    private static let root = ClientOwner(user: 0, process: 3, isAdministrator: true)
    private static let strict = PairingPolicy(requiresSecureConnections: true, leastKeySize: 16, keepsBonds: false)

    private typealias Demand = (ClientOwner, everywhere: Bool)

    private func pairings(_ demands: [Demand]) -> Pairings {
        var pairings = Pairings(random: SeededGenerator(seed: 1), configuration: .init(), limits: Limits())
        for (index, demand) in demands.enumerated() {
            let client = ClientID(rawValue: index)
            pairings.setPolicy(Self.strict, by: client, of: demand.0, everywhere: demand.everywhere)
        }
        return pairings
    }

    /// What is demanded; on whose links, and what counts there.
    private static let cases: [(demands: [Demand], owners: [ClientOwner], isStrict: Bool, keepsBonds: Bool)] = [
        ([(mine, false)], [mine], true, false), ([(mine, false)], [theirs], false, true),
        ([(mine, false)], [mine, theirs], true, true),
        ([(mine, false), (theirs, false)], [mine, theirs], true, false),
        ([(mine, false)], [], false, true), ([(mine, true)], [theirs], false, true),
        ([(root, false)], [mine], false, true), ([(root, true)], [mine], true, false),
        ([(root, true)], [], true, false),
        ([(.program, false)], [.program], true, false), ([(.program, false)], [], true, false),
    ]

    @Test(
        "A policy applies to its app's links, the strictest wins, and a policy for all applies to every link",
        arguments: 0..<11
    )
    func policies(index: Int) {
        let (demands, owners, isStrict, keepsBonds) = Self.cases[index]
        let policy = pairings(demands).policy(for: LinkApps(owners))
        #expect(policy.requiresSecureConnections == isStrict)
        #expect(policy.leastKeySize == (isStrict ? 16 : 7))
        #expect(policy.keepsBonds == keepsBonds)
    }

    @Test("A policy for all ends when its app is no longer an administrator, or has left")
    func given() {
        var pairings = pairings([(Self.root, true)])
        pairings.transfer(ClientID(rawValue: 0), to: ClientOwner(user: 0, process: 3, isAdministrator: false))
        #expect(pairings.policy(for: LinkApps([Self.mine])) == PairingPolicy())
        pairings.transfer(ClientID(rawValue: 0), to: Self.root)
        #expect(pairings.policy(for: LinkApps([Self.mine])) == Self.strict)
        pairings.removeClient(ClientID(rawValue: 0))
        #expect(pairings.policy(for: LinkApps([Self.mine])) == PairingPolicy())
    }

    @Test("Questions go to the newest agent of the link's users or of an administrator")
    func agents() {
        var pairings = pairings([])
        for (index, owner) in [Self.mine, Self.root, Self.theirs].enumerated() {
            pairings.setAgent(ClientID(rawValue: index), of: owner, .displayYesNo)
        }
        func agent(_ owners: ClientOwner...) -> Int? { pairings.agent(for: LinkApps(owners))?.client.rawValue }
        #expect(agent(Self.mine) == 1 && agent(Self.theirs) == 2 && agent(Self.mine, Self.theirs) == 2 && agent() == 1)
        pairings.removeClient(ClientID(rawValue: 1))
        #expect(agent(Self.mine) == 0 && agent() == nil)
    }
}

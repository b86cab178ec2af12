import BLEWire
import Testing

@testable import BLEHost

@Suite("Connections of clients to peers")
struct ClientConnectionsTests {
    static let client = ClientID(rawValue: 1), other = ClientID(rawValue: 2)
    static let peer = PeerIdentifier(rawValue: 1), far = PeerIdentifier(rawValue: 2)
    static let link = ConnectionHandle(wire: 0x40)!

    static func address(_ number: UInt64) -> DeviceAddress { DeviceAddress(number, .random) }

    static func clientConnection(
        _ client: ClientID,
        _ peer: PeerIdentifier,
        _ state: ClientConnections.State = .pending,
        isPrivate: Bool = false,
        due: Instant? = nil
    ) -> ClientConnections.ClientConnection {
        .init(
            client: client,
            peer: peer,
            address: address(UInt64(peer.rawValue)),
            isPrivate: isPrivate,
            request: ConnectRequest(),
            state: state,
            due: due
        )
    }

    @Test("The list of wanted addresses has each address once, in the order of the requests")
    func wanted() {
        var all = ClientConnections()
        all.add(Self.clientConnection(Self.client, Self.far))
        all.add(Self.clientConnection(Self.other, Self.far))
        all.add(Self.clientConnection(Self.client, Self.peer))
        #expect(all.wanted == [Self.address(2), Self.address(1)])
        all.setState(.linked(Self.link), for: Self.client, Self.peer)
        #expect(all.wanted == [Self.address(2)])
        let early = all.link(of: Self.client, to: Self.peer)
        #expect(early == nil, "the client has not heard of the link")
        all.setState(.connected(Self.link), for: Self.client, Self.peer)
        let link = all.link(of: Self.client, to: Self.peer), none = all.link(of: Self.other, to: Self.peer)
        #expect(link == Self.link && none == nil)
        all.remove(Self.client, Self.peer)
        let gone = all.link(of: Self.client, to: Self.peer)
        #expect(gone == nil)
    }

    @Test("Connections report which clients share a link and which wait for its end")
    func sharing() {
        var all = ClientConnections()
        all.add(Self.clientConnection(Self.client, Self.peer, .connected(Self.link)))
        all.add(Self.clientConnection(Self.other, Self.peer, .disconnecting(Self.link, again: nil)))
        all.add(Self.clientConnection(Self.client, Self.far))
        #expect(all.entries(on: Self.link).map(\.client) == [Self.client, Self.other])
        #expect(all.entries(to: Self.peer).count == 2 && all.entries(of: Self.client).count == 2 && all.count == 3)
        all.remove(Self.other, Self.peer)
        #expect(all.entries(on: Self.link).map(\.client) == [Self.client])
        #expect(all[Self.other, Self.peer] == nil)
    }

    @Test("Delayed requests begin when due, and expired ones are reported")
    func deadlines() {
        let now = Instant()
        var all = ClientConnections()
        all.add(
            Self.clientConnection(Self.client, Self.peer, .delayed(until: now + .seconds(2)), due: now + .seconds(9))
        )
        all.add(Self.clientConnection(Self.other, Self.peer, due: now + .seconds(5)))
        #expect(all.deadline == now + .seconds(2))
        let early = all.endDelays(at: now + .milliseconds(1_999)), begun = all.endDelays(at: now + .seconds(2))
        #expect(early.isEmpty && begun.map(\.client) == [Self.client])
        #expect(all.deadline == now + .seconds(5))
        #expect(all.overdue(at: now + .seconds(5)).map(\.client) == [Self.other])
        all.setState(.connected(Self.link), for: Self.other, Self.peer)
        #expect(all.deadline == now + .seconds(9), "who is connected waits for nothing")
    }

    @Test("Connections report whether a private peer must be found by scanning first")
    func privatePeers() {
        var all = ClientConnections()
        all.add(Self.clientConnection(Self.client, Self.peer, isPrivate: true))
        all.add(Self.clientConnection(Self.other, Self.peer, .delayed(until: Instant()), isPrivate: true))
        #expect(all.awaitsAdvertisements)
        all.setState(.connected(Self.link), for: Self.client, Self.peer)
        #expect(!all.awaitsAdvertisements)
        _ = all.endDelays(at: Instant())
        #expect(all.awaitsAdvertisements)
        all.setAddress(of: Self.peer, to: Self.address(9), isPrivate: false)
        #expect(!all.awaitsAdvertisements && all[Self.other, Self.peer]?.address == Self.address(9))
        all.setAddress(of: Self.peer, to: Self.address(9), isPrivate: true)
        all.remove(Self.other, Self.peer)
        #expect(!all.awaitsAdvertisements)
    }

    @Test("A peer's new address is stored only for clients that are waiting, and reported if it changed")
    func moving() {
        var all = ClientConnections()
        all.add(Self.clientConnection(Self.client, Self.peer))
        let news = all.updatePendingAddress(of: Self.peer, to: Self.address(9)),
            known = all.updatePendingAddress(of: Self.peer, to: Self.address(9))
        #expect(news && !known)
        all.setState(.connected(Self.link), for: Self.client, Self.peer)
        let late = all.updatePendingAddress(of: Self.peer, to: Self.address(8))
        #expect(!late && all[Self.client, Self.peer]?.address == Self.address(9))
    }
}
